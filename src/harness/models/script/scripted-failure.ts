import { ProviderError } from '../../ports/chat-model.port.js';

/** The error a provider adapter would throw; `empty` is no error, but an answer without content. */
export function scriptedFailure(code: string): ProviderError {
  switch (code) {
    case '429':
      return new ProviderError('the model provider answered 429', 'http', { status: 429, retryable: true });
    case '500':
      return new ProviderError('the model provider answered 500', 'http', { status: 500, retryable: true });
    case 'cut':
      return new ProviderError('the model provider cut its answer', 'cut', { retryable: true });
    case 'overflow':
      return new ProviderError('the request is longer than the model accepts', 'overflow', {
        status: 400,
        retryable: false,
      });
    default:
      return new ProviderError(`the model provider failed: ${code}`, 'other', { retryable: false });
  }
}
