import { isJsonObject, type JsonObject } from '../../../common/json.js';
import type { ScriptStep, TestToolCall } from './script-step.js';

type Reader = (rest: string) => ScriptStep | undefined;

const notAvailable: Reader = () => ({ kind: 'fail', code: 'not_available' });

/** Steps that every script may use, by their word; `rest` is what follows `word:`. */
const STEPS: Readonly<Record<string, Reader>> = {
  say: (text) => ({ kind: 'say', text }),
  think: (text) => ({ kind: 'think', text }),
  stream: (rest) => {
    const [, count, ms] = /^(\d{1,7}):(\d{1,9})$/.exec(rest.trim()) ?? [];
    return count === undefined ? undefined : { kind: 'stream', count: Number(count), ms: Number(ms) };
  },
  usage: (rest) => {
    const [, input, output] = /^(\d{1,12}):(\d{1,12})$/.exec(rest.trim()) ?? [];
    return input === undefined
      ? undefined
      : { kind: 'usage', promptTokens: Number(input), completionTokens: Number(output) };
  },
  fail: (code) => (code.trim() === '' ? undefined : { kind: 'fail', code: code.trim() }),
  ask: notAvailable,
  askm: notAvailable,
  askt: notAvailable,
  asko: notAvailable,
};

/** Steps that exist only where the test steps are switched on. */
const TEST_STEPS: Readonly<Record<string, Reader>> = {
  tool: (rest) => callsStep([rest]),
  tools: (rest) => callsStep(rest.split(',')),
  block: (rest) => {
    const call = testToolCall(rest);
    return call && { kind: 'block', call };
  },
};

function testToolCall(text: string): TestToolCall | undefined {
  const [, name, ms] = /^([A-Za-z0-9_-]{1,64}):(\d{1,9})$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, ms: Number(ms) };
}

function callsStep(texts: readonly string[]): ScriptStep | undefined {
  const calls = texts.map(testToolCall);
  return calls.every((call) => call !== undefined) ? { kind: 'tools', calls } : undefined;
}

/** Cuts at every `;` that has no backslash before it. */
function segmentsOf(script: string): string[] {
  return script.split(/(?<!\\);/);
}

const unquote = (segment: string): string => segment.replaceAll('\\;', ';');

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads `call:NAME:{json}` from the first segments. A `;` inside the JSON may go unquoted: the JSON then ends at
 * the first `;` that leaves it whole. JSON that is never whole is passed on as text, as a model would do.
 */
function readCall(segments: readonly string[]): { step: ScriptStep; used: number } | undefined {
  const [, name, first] = /^call:([^:\s]{1,128})(?::([\s\S]*))?$/.exec((segments[0] ?? '').trimStart()) ?? [];
  if (name === undefined) return undefined;
  if (first === undefined || first.trim() === '') return { step: { kind: 'call', name, args: {} }, used: 1 };
  for (let used = 1; used <= segments.length; used += 1) {
    const json = unquote([first, ...segments.slice(1, used)].join(';'));
    const args = parseObject(json.slice(0, json.lastIndexOf('}') + 1));
    if (args !== undefined) return { step: { kind: 'call', name, args }, used };
  }
  return { step: { kind: 'call', name, args: unquote(first) }, used: 1 };
}

function readStep(segment: string, testSteps: boolean): ScriptStep | undefined {
  const text = unquote(segment.trimStart());
  const bare = text.trim();
  if (bare === 'echo') return { kind: 'echo' };
  if (testSteps && (bare === 'throw' || bare === 'crash')) return { kind: bare };
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const word = text.slice(0, colon);
  const reader =
    (Object.hasOwn(STEPS, word) && STEPS[word]) || (testSteps && Object.hasOwn(TEST_STEPS, word) && TEST_STEPS[word]);
  return reader ? reader(text.slice(colon + 1)) : undefined;
}

/**
 * The steps of a script. `;` separates them, `\;` is a semicolon inside one, blank steps are nothing, and what
 * is no step is said as it stands: a text without any step comes back whole.
 * @param options.testSteps whether `tool`, `tools`, `block`, `throw` and `crash` are steps or plain text
 */
export function parseScript(script: string, options: { readonly testSteps: boolean }): readonly ScriptStep[] {
  const steps: ScriptStep[] = [];
  let plain: string[] = [];
  const flush = (): void => {
    if (plain.some((text) => text.trim() !== '')) steps.push({ kind: 'say', text: plain.join(';') });
    plain = [];
  };
  const segments = segmentsOf(script);
  for (let at = 0; at < segments.length;) {
    const call = readCall(segments.slice(at));
    const step = call?.step ?? readStep(segments[at] ?? '', options.testSteps);
    if (step === undefined) plain.push(unquote(segments[at] ?? ''));
    else {
      flush();
      steps.push(step);
    }
    at += call?.used ?? 1;
  }
  flush();
  return steps;
}

/** The names of the test tools that a script calls, each once. */
export function testToolNamesIn(script: string): readonly string[] {
  const names = parseScript(script, { testSteps: true }).flatMap((step) => {
    if (step.kind === 'tools') return step.calls.map((call) => call.name);
    return step.kind === 'block' ? [step.call.name] : [];
  });
  return [...new Set(names)];
}
