import { OpenAiCompatibleModel } from '../../../src/harness/models/openai-compatible.js';
import * as openAi from '../fake-llm.js';
import type { WireMessage } from '../fake-llm.js';
import { finishOf, type ModelWire, type SaidMessage, type WireAnswer } from './model-wire.js';

interface Body {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type Content = readonly {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}[];

/** How the providers of one wire differ. */
export interface OpenAiProfile {
  readonly name: string;
  readonly acceptsPictures: boolean;
  /** How the provider spells thinking. */
  thinking(piece: string): string;
  /** The frames that tell the tokens: with the finish, after it, or in both places. */
  end(finish: string, usage: WireAnswer['usage']): readonly string[];
}

const FILTERED = 'content_filter';

const countsOf = ({ input, cached, output }: NonNullable<WireAnswer['usage']>): object => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});

/** OpenAI itself, Ark and Qwen: tokens come in a frame of their own without choices. */
const usageAfterwards: OpenAiProfile['end'] = (finish, usage) => [
  openAi.finish(finish),
  ...(usage ? [openAi.usage(usage.input, usage.output, usage.cached)] : []),
  openAi.DONE,
];

export const PROFILES: readonly OpenAiProfile[] = [
  { name: 'openai-compatible', acceptsPictures: true, thinking: openAi.thinking, end: usageAfterwards },
  { name: 'ark', acceptsPictures: true, thinking: openAi.thinking, end: usageAfterwards },
  {
    name: 'deepseek',
    acceptsPictures: false,
    thinking: openAi.thinking,
    // tokens come with the finish, cached ones under a name of their own
    end: (finish, usage) => {
      const choices = [{ index: 0, delta: { content: '' }, finish_reason: finish }];
      const counts = usage && {
        ...countsOf(usage),
        prompt_cache_hit_tokens: usage.cached,
        prompt_tokens_details: null,
      };
      return [openAi.frame({ model: 'scripted-1', choices, ...(counts && { usage: counts }) }), openAi.DONE];
    },
  },
  { name: 'qwen', acceptsPictures: true, thinking: openAi.thinking, end: usageAfterwards },
  {
    name: 'local server',
    acceptsPictures: true,
    thinking: (reasoning) => openAi.choice({ reasoning }),
    // no end mark, tokens in every frame
    end: (finish, usage) => {
      const counts = usage && { usage: countsOf(usage) };
      const choices = [{ index: 0, delta: {}, finish_reason: finish }];
      return [openAi.frame({ model: 'scripted-1', choices, ...counts })];
    },
  },
];

/** OpenAI's chat completions as one of its providers speaks them. */
export const openAiWire = (profile: OpenAiProfile): ModelWire => ({
  name: profile.name,
  splitsArguments: true,

  model: (link) => new OpenAiCompatibleModel({ ...link, name: 'scripted-1', acceptsPictures: profile.acceptsPictures }),

  begin: ({ thinking = [], text = [], calls = [] }) => [
    openAi.choice({ role: 'assistant', content: '' }),
    ...thinking.map((piece) => profile.thinking(piece)),
    ...text.map(openAi.text),
    ...calls.flatMap(({ id, name, args }, index) => [
      openAi.calls({ index, id, type: 'function', function: { name, arguments: args[0] ?? '' } }),
      ...args.slice(1).map((piece) => openAi.calls({ index, function: { arguments: piece } })),
    ]),
  ],

  end: (answer) => profile.end(finishOf(answer), answer.usage),
  refusal: (status, message, headers = {}) =>
    openAi.errorReply(status, message, { 'x-request-id': 'req_1', ...headers }),
  reported: (status, message) => openAi.frame({ error: { message, code: status } }),
  blocked: () => [openAi.choice({ content: '' }, FILTERED), openAi.DONE],
  faultOf: (body) => openAi.pairingFault((body as Body).messages),

  said({ headers, body }) {
    const { model, messages, tools = [] } = body as Body;
    const [first, ...rest] = messages;
    const system = first?.role === 'system' ? first.content : '';
    return {
      model,
      system: system as string,
      tools: tools.map((tool) => tool.function.name),
      key: (headers['authorization'] as string | undefined)?.replace('Bearer ', ''),
      messages: (first?.role === 'system' ? rest : messages).reduce(joinResults, []),
    };
  },
});

/** Results of one answer are one message, as on the other wires. */
function joinResults(said: SaidMessage[], message: WireMessage): SaidMessage[] {
  const before = said.at(-1);
  if (message.role !== 'tool') return [...said, messageOf(message)];
  const result = { id: message.tool_call_id ?? '', text: message.content as string };
  if (before?.role !== 'tool') return [...said, { role: 'tool', results: [result] }];
  return [...said.slice(0, -1), { role: 'tool', results: [...(before.results ?? []), result] }];
}

function messageOf({ role, content, tool_calls: calls = [] }: WireMessage): SaidMessage {
  const all: Content = typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Content);
  const text = all.flatMap((part) => (part.text ? [part.text] : [])).join('\n');
  const pictures = all.flatMap(({ image_url: image }) =>
    image ? [image.url.replace(/^data:(.*);base64,/, '$1 ')] : [],
  );
  return {
    role: role as 'user' | 'assistant',
    ...(text !== '' && { text }),
    ...(pictures.length > 0 && { pictures }),
    ...(calls.length > 0 && {
      calls: calls.map(({ id, function: { name, arguments: args } }) => ({
        id,
        name,
        args: JSON.parse(args) as unknown,
      })),
    }),
  };
}
