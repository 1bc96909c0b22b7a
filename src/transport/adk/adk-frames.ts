import type { AdkWire } from './adk.projection.js';

/** One frame of `/run_sse`: `data: `, one line of JSON, a blank line. */
export function toFrame(wire: AdkWire): string {
  return wire.kind === 'event' ? `data: ${JSON.stringify(wire.event)}\n\n` : errorFrame(wire.message);
}

/** The frame that ends a failed run: one key, a blank after the colon, ASCII only. */
export function errorFrame(message: string): string {
  return `data: {"error": ${asciiJson(message)}}\n\n`;
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
