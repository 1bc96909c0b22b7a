import type { EngineEvent } from '../../events/harness-event.js';
import { EngineLoop } from './engine-loop.js';
import type { EngineInput } from './engine-input.js';

/**
 * Runs an agent: reason, act on the tool calls, reason again, until the model answers or a limit ends it.
 * The last event is `run_end`; the host already knows it, for `inputs.mayEnd` was asked with it.
 * @param signal aborts model and tools at once: within 100 ms the generator throws its reason and yields nothing more
 * @throws the signal's reason, and whatever is no fault of the provider or of a tool
 */
export async function* runEngine(input: EngineInput, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  signal.throwIfAborted();
  const left = new AbortController();
  try {
    for await (const event of new EngineLoop(input, AbortSignal.any([signal, left.signal])).run()) {
      const isEnd = event.type === 'run_end' && event.runId === input.runId;
      // An end that the host accepted stands, whatever came after.
      if (!isEnd) signal.throwIfAborted();
      yield event;
      if (isEnd) return;
      signal.throwIfAborted();
    }
  } finally {
    // A consumer that leaves early takes the model and the tools with it.
    left.abort(new Error('the run was left'));
  }
}
