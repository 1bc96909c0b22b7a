import type { Json, JsonObject } from '../../../src/common/json.js';
import { AppError } from '../../../src/common/app-error.js';
import { Tool, type ToolResult } from '../../../src/harness/ports/tool.port.js';
import type { ToolDeclaration } from '../../../src/harness/ports/chat-model.port.js';

type Types = Readonly<Record<string, 'string' | 'integer'>>;

/** A plain function as a tool. */
class PlainTool extends Tool {
  readonly effect = 'read_only';

  constructor(
    readonly declaration: ToolDeclaration,
    private readonly work: (args: JsonObject, signal: AbortSignal) => ToolResult | Promise<ToolResult>,
  ) {
    super();
  }

  async run(args: JsonObject, _context: unknown, signal: AbortSignal): Promise<ToolResult> {
    return this.work(args, signal);
  }
}

/** The schema that the peer's library makes of a function's signature. */
function declare(name: string, description: string, types: Types, defaults: JsonObject = {}): ToolDeclaration {
  const properties = Object.fromEntries(
    Object.entries(types).map(([key, type]) => [
      key,
      { ...(key in defaults && { default: defaults[key] }), title: `${key[0]?.toUpperCase()}${key.slice(1)}`, type },
    ]),
  ) as JsonObject;
  const required = Object.keys(types).filter((key) => !(key in defaults));
  const parameters = { properties, ...(required.length > 0 && { required }), title: `${name}Params`, type: 'object' };
  return { name, description, parameters };
}

const RETURNED: Readonly<Record<string, Json>> = {
  num: 1.5,
  int: 1e20,
  null: null,
  list: [1, null, 'x'],
  bool: true,
  nan: { v: null, i: null },
  dict: { b: 1, a: null },
  float1: { v: 1.0, e: 1e21, s: 1e-7 },
  bytes: { v: '-_8=' },
};

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });

/** The plain ones among the tools that the ADK recordings were made with. */
export const ADK_TOOLS: readonly Tool[] = [
  new PlainTool(declare('get_weather', 'Weather of a city.', { city: 'string' }), ({ city }) => ({
    json: { city: city as Json, temp_c: 21, sky: 'clear' },
  })),
  new PlainTool(declare('add', 'Adds two numbers.', { a: 'integer', b: 'integer' }), ({ a, b }) => ({
    json: Number(a) + Number(b),
  })),
  new PlainTool(declare('ret', 'Returns a value of a kind.', { kind: 'string' }), ({ kind }) =>
    kind === 'str' ? 'text' : { json: RETURNED[kind as string] as Json },
  ),
  new PlainTool(declare('fail', 'Always fails.', { msg: 'string' }), ({ msg }) => {
    throw new AppError('INTERNAL', msg as string);
  }),
  new PlainTool(declare('sleep', 'Sleeps.', { ms: 'integer' }), async ({ ms }, signal) => {
    await sleep(Number(ms), signal);
    return { json: { slept: ms as Json } };
  }),
];

/** The tools that the AgentKit recordings were made with. */
export const SDK_TOOLS: readonly Tool[] = [
  new PlainTool(declare('get_weather', 'Weather of a city.', { city: 'string' }), ({ city }) => ({
    json: { city: city as Json, sky: 'clear' },
  })),
  new PlainTool(declare('get_time', 'Local time of a city.', { city: 'string' }), () => '12:00'),
  new PlainTool(declare('save_note', 'Save a note as artifact.', { name: 'string', text: 'string' }), () => {
    throw new Error('there are no artifacts');
  }),
  new PlainTool(declare('fail_tool', 'Always fails.', { city: 'string' }, { city: '' }), () => {
    throw new AppError('INTERNAL', 'tool exploded');
  }),
];
