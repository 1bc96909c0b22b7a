import type { SdkProvider } from './ai-sdk-model.js';

interface Frame {
  readonly type?: unknown;
  readonly message?: { readonly model?: unknown };
}

/** Anthropic's messages API. */
export const anthropic: SdkProvider = {
  async load() {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return ({ name, baseUrl, apiKey, fetch }) => createAnthropic({ baseURL: baseUrl, apiKey, fetch })(name);
  },

  factsOf(frame) {
    const { type, message } = (frame ?? {}) as Frame;
    return {
      isEnd: type === 'message_stop',
      model: typeof message?.model === 'string' ? message.model : undefined,
    };
  },
};
