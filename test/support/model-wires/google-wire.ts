import { AiSdkModel } from '../../../src/harness/models/ai-sdk/ai-sdk-model.js';
import { google } from '../../../src/harness/models/ai-sdk/google.js';
import { finishOf, type ModelWire, type SaidMessage, type WireAnswer } from './model-wire.js';

interface Part {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: { content: string } };
}

interface Body {
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly contents: readonly { readonly role: 'user' | 'model'; readonly parts: readonly Part[] }[];
  readonly tools?: readonly { readonly functionDeclarations: readonly { readonly name: string }[] }[];
}

const STOP = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' } as const;
const ERRORS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const frame = (data: object): string =>
  `data: ${JSON.stringify({ ...data, modelVersion: 'scripted-1', responseId: 'r1' })}\r\n\r\n`;

const parts = (...said: readonly object[]): string =>
  frame({ candidates: [{ content: { role: 'model', parts: said }, index: 0 }] });

const errorOf = (status: number, message: string): object => ({
  error: { code: status, message, status: ERRORS[status] ?? 'UNKNOWN' },
});

const textOf = (all: readonly Part[]): string => all.flatMap(({ text }) => (text ? [text] : [])).join('\n');

/** Google's Gemini API. */
export const googleWire: ModelWire = {
  name: 'google',
  splitsArguments: false,

  model: (link) => new AiSdkModel({ ...link, name: 'scripted-1', provider: google }),

  begin({ thinking = [], text = [], calls = [] }: WireAnswer) {
    return [
      ...thinking.map((piece) => parts({ text: piece, thought: true })),
      ...text.map((piece) => parts({ text: piece })),
      ...(calls.length > 0
        ? [parts(...calls.map(({ id, name, args }) => ({ functionCall: { id, name, args: argsOf(args) } })))]
        : []),
    ];
  },

  end(answer) {
    const { usage } = answer;
    const candidates = [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: STOP[finishOf(answer)] }];
    const usageMetadata = usage && {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    };
    return [frame({ candidates, ...(usageMetadata && { usageMetadata }) })];
  },

  refusal: (status, message, headers = {}) => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    steps: [JSON.stringify(errorOf(status, message))],
  }),

  reported: (status, message) => `data: ${JSON.stringify(errorOf(status, message))}\r\n\r\n`,

  blocked: () => [frame({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })],

  faultOf(body) {
    const { contents } = body as Body;
    if (contents[0]?.role !== 'user') return 'the first content must be of the user';
    let open = 0;
    for (const { parts: all } of contents) {
      if (all.length === 0) return 'contents.parts must not be empty';
      const answered = all.filter(({ functionResponse }) => functionResponse !== undefined).length;
      if (answered !== open) {
        return 'the number of function response parts must equal the number of function call parts';
      }
      open = all.filter(({ functionCall }) => functionCall !== undefined).length;
    }
    return open > 0 ? 'the last content leaves calls open' : undefined;
  },

  said({ path, headers, body }) {
    const { systemInstruction, contents, tools = [] } = body as Body;
    return {
      model: /models\/([^:]+):streamGenerateContent\?alt=sse$/.exec(path)?.[1] ?? path,
      system: textOf(systemInstruction?.parts ?? []),
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
      key: headers['x-goog-api-key'] as string | undefined,
      messages: contents.map(({ role, parts: all }) => messageOf(role, all)),
    };
  },
};

const argsOf = (pieces: readonly string[]): unknown => (pieces.join('') === '' ? {} : JSON.parse(pieces.join('')));

function messageOf(role: 'user' | 'model', all: readonly Part[]): SaidMessage {
  const results = all.flatMap(({ functionResponse }) =>
    functionResponse ? [{ id: functionResponse.id ?? '', text: functionResponse.response.content }] : [],
  );
  if (results.length > 0) return { role: 'tool', results };
  const pictures = all.flatMap(({ inlineData }) => (inlineData ? [`${inlineData.mimeType} ${inlineData.data}`] : []));
  const calls = all.flatMap(({ functionCall }) =>
    functionCall ? [{ id: functionCall.id ?? '', name: functionCall.name, args: functionCall.args }] : [],
  );
  const text = textOf(all);
  return {
    role: role === 'model' ? 'assistant' : 'user',
    ...(text !== '' && { text }),
    ...(pictures.length > 0 && { pictures }),
    ...(calls.length > 0 && { calls }),
  };
}
