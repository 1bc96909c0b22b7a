import { ProviderError } from '../../ports/chat-model.port.js';
import { cutError } from '../provider/provider-faults.js';
import { httpError } from '../provider/provider-faults.js';

/** The error that the adapter of a real provider would throw. */
export function scriptedFailure(code: string): ProviderError {
  switch (code) {
    case '429':
    case '500':
      return httpError(Number(code), {}, '');
    case 'overflow':
      return httpError(400, {}, 'context_length_exceeded');
    case 'cut':
      return cutError();
    default:
      return new ProviderError(`the model failed: ${code}`, 'other', { retryable: false });
  }
}
