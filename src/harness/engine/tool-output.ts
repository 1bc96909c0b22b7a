/// <reference lib="es2024.string" />
import type { ToolResult } from '../ports/tool.port.js';

interface ToolOutput {
  readonly text: string;
  /** True when the text is whole JSON. */
  readonly isJson: boolean;
}

/** A tool's result as the text that the model reads, at most `maxChars` characters and a marker long. */
export function toOutput(result: ToolResult, maxChars: number): ToolOutput {
  const whole = (typeof result === 'string' ? result : JSON.stringify(result.json)).toWellFormed();
  const text = cutMiddle(whole, maxChars);
  return { text, isJson: typeof result !== 'string' && text === whole };
}

/** The text, or its first and last `maxChars / 2` characters around a marker that says how many are missing. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = text.slice(0, Math.ceil(maxChars / 2));
  const tail = text.slice(text.length - Math.floor(maxChars / 2));
  // A cut may split a surrogate pair.
  return `${head}\n… ${text.length - maxChars} characters cut …\n${tail}`.toWellFormed();
}
