import type { SdkProvider } from './ai-sdk-model.js';

interface Frame {
  readonly modelVersion?: unknown;
  readonly promptFeedback?: { readonly blockReason?: unknown };
  readonly candidates?: readonly { readonly finishReason?: unknown }[];
}

/** Google's Gemini API. */
export const google: SdkProvider = {
  async load() {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return ({ name, baseUrl, apiKey, fetch }) => createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, fetch })(name);
  },

  factsOf(frame) {
    const { modelVersion, promptFeedback, candidates } = (frame ?? {}) as Frame;
    const reason = candidates?.[0]?.finishReason ?? promptFeedback?.blockReason;
    return {
      // After CONTINUATION the SDK asks for the rest of the answer.
      isEnd: typeof reason === 'string' && reason !== 'CONTINUATION',
      model: typeof modelVersion === 'string' ? modelVersion : undefined,
    };
  },
};
