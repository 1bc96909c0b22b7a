import type { Logger } from '../../observability/logger.js';
import { ChatModel, ProviderError, type ChatEvent, type ChatRequest } from '../ports/chat-model.port.js';

/** A model whose failures leave a line in the log, with what the provider's support asks for. */
export class LoggedModel extends ChatModel {
  readonly name: string;
  readonly acceptsPictures: boolean;

  constructor(
    private readonly model: ChatModel,
    private readonly logger: Logger,
  ) {
    super();
    this.name = model.name;
    this.acceptsPictures = model.acceptsPictures;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent> {
    const startedAt = performance.now();
    const answer = this.model.stream(request, signal)[Symbol.asyncIterator]();
    const failed = (error: unknown): never => {
      if (error instanceof ProviderError && !signal.aborted) this.report(error, request, performance.now() - startedAt);
      throw error;
    };
    // Not a generator around the other one: every token would go through both.
    const watched: AsyncIterator<ChatEvent> = {
      next: () => answer.next().catch(failed),
      return: async () => (await answer.return?.()) ?? { done: true, value: undefined },
    };
    return { [Symbol.asyncIterator]: () => watched };
  }

  /** What the provider said stays out: it may quote the conversation. */
  private report({ fault, message, options }: ProviderError, request: ChatRequest, ms: number): void {
    const { status, requestId, retryAfterMs, retryable, cause } = options;
    const { runId, agentName } = request;
    this.logger.warn('the model failed', {
      ...{ runId, agentName, model: this.name, fault, reason: message, status, requestId, retryAfterMs, retryable },
      durationMs: Math.round(ms),
      ...(cause instanceof Error && { error: fault === 'bad_frame' ? cause.name : `${cause.name}: ${cause.message}` }),
    });
  }
}
