import { AiSdkModel } from '../../../src/harness/models/ai-sdk/ai-sdk-model.js';
import { anthropic } from '../../../src/harness/models/ai-sdk/anthropic.js';
import { finishOf, type ModelWire, type SaidMessage, type WireAnswer } from './model-wire.js';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
  readonly source?: { readonly media_type: string; readonly data: string };
}

interface Body {
  readonly model: string;
  readonly system?: string | readonly Block[];
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
}

const STOP = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' } as const;
const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

const frame = (data: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const start = (input: number, cached: number): string =>
  frame({
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted-1', content: [] },
      ...{ stop_reason: null, stop_sequence: null },
      usage: { input_tokens: input, cache_read_input_tokens: cached, cache_creation_input_tokens: 0, output_tokens: 0 },
    },
  });

function block(index: number, opened: object, deltas: readonly object[]): string[] {
  return [
    frame({ type: 'content_block_start', index, content_block: opened }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ];
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');

/** Anthropic's messages API. */
export const anthropicWire: ModelWire = {
  name: 'anthropic',
  splitsArguments: true,

  model: (link) => new AiSdkModel({ ...link, name: 'scripted-1', provider: anthropic }),

  begin({ thinking = [], text = [], calls = [], usage }: WireAnswer) {
    const frames = [start((usage?.input ?? 0) - (usage?.cached ?? 0), usage?.cached ?? 0), frame({ type: 'ping' })];
    let index = 0;
    if (thinking.length > 0) {
      const deltas = thinking.map((piece) => ({ type: 'thinking_delta', thinking: piece }));
      const signed = { type: 'signature_delta', signature: 'c2lnbmVk' };
      frames.push(...block(index++, { type: 'thinking', thinking: '', signature: '' }, [...deltas, signed]));
    }
    if (text.length > 0) {
      const deltas = text.map((piece) => ({ type: 'text_delta', text: piece }));
      frames.push(...block(index++, { type: 'text', text: '' }, deltas));
    }
    for (const { id, name, args } of calls) {
      const deltas = args.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
      frames.push(...block(index++, { type: 'tool_use', id, name, input: {} }, deltas));
    }
    return frames;
  },

  end(answer) {
    const delta = { stop_reason: STOP[finishOf(answer)], stop_sequence: null };
    return [
      frame({ type: 'message_delta', delta, usage: { output_tokens: answer.usage?.output ?? 0 } }),
      frame({ type: 'message_stop' }),
    ];
  },

  refusal: (status, message, headers = {}) => ({
    status,
    headers: { 'content-type': 'application/json', 'request-id': 'req_1', ...headers },
    steps: [JSON.stringify({ type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } })],
  }),

  reported: (status, message) => frame({ type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } }),

  blocked() {
    return [...this.begin({}), ...this.end({ finish: 'content_filter' })];
  },

  faultOf(body) {
    const { messages } = body as Body;
    if (messages[0]?.role !== 'user') return 'the first message must use the user role';
    let open: string[] = [];
    for (const [index, { role, content }] of messages.entries()) {
      if (index > 0 && messages[index - 1]?.role === role) return 'roles must alternate';
      const blocks = blocksOf(content);
      if (blocks.length === 0 || blocks.some((one) => one.type === 'text' && one.text?.trim() === '')) {
        return 'text content blocks must contain non-whitespace text';
      }
      const results = blocks.flatMap((one) => (one.type === 'tool_result' ? [one.tool_use_id ?? ''] : []));
      if (role === 'user' && [...open].sort().join() !== [...results].sort().join()) {
        return '`tool_use` ids were found without `tool_result` blocks immediately after';
      }
      open = blocks.flatMap((one) => (one.type === 'tool_use' ? [one.id ?? ''] : []));
      if (open.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) return 'tool_use.id: string should match pattern';
    }
    return open.length > 0 ? 'the last message leaves calls open' : undefined;
  },

  said({ headers, body }) {
    const { model, system = '', messages, tools = [] } = body as Body;
    return {
      model,
      system: textOf(blocksOf(system)),
      tools: tools.map(({ name }) => name),
      key: headers['x-api-key'] as string | undefined,
      messages: messages.flatMap(({ role, content }) => messagesOf(role, blocksOf(content))),
    };
  },
};

function messagesOf(role: 'user' | 'assistant', blocks: readonly Block[]): SaidMessage[] {
  const results = blocks.flatMap((one) =>
    one.type === 'tool_result' ? [{ id: one.tool_use_id ?? '', text: textOf(blocksOf(one.content ?? '')) }] : [],
  );
  const pictures = blocks.flatMap(({ source }) => (source ? [`${source.media_type} ${source.data}`] : []));
  const calls = blocks.flatMap(({ type, id = '', name = '', input }) =>
    type === 'tool_use' ? [{ id, name, args: input }] : [],
  );
  const text = textOf(blocks);
  const said: SaidMessage = {
    role,
    ...(text !== '' && { text }),
    ...(pictures.length > 0 && { pictures }),
    ...(calls.length > 0 && { calls }),
  };
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(results.length === 0 || text !== '' ? [said] : []),
  ];
}
