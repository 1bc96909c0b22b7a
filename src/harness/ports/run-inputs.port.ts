import type { UserInput } from '../../events/parts.js';
import type { EventOf } from '../../events/harness-event.js';
import type { ChatMessage } from './chat-model.port.js';

/** New input that arrived while the run was going on. */
export interface TakenInput {
  readonly input: UserInput;
  readonly message: ChatMessage;
}

/** What came in meanwhile, and may I end (contract engine §1.6). */
export abstract class RunInputs {
  /** Called at each safe point: before a model call, after a tool batch, before the end. */
  abstract take(): Promise<readonly TakenInput[]>;
  /** Called before `run_end` is yielded: false = something came in, take one more turn. */
  abstract mayEnd(end: EventOf<'run_end'>): Promise<boolean>;
}

/** Without a host nothing comes in, and every end may be. */
export class NoInputs extends RunInputs {
  take(): Promise<readonly TakenInput[]> {
    return Promise.resolve([]);
  }

  mayEnd(): Promise<boolean> {
    return Promise.resolve(true);
  }
}
