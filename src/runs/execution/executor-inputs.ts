import type { Clock } from '../../common/clock.js';
import type { EventOf, HarnessEvent } from '../../events/harness-event.js';
import { RunInputs, type TakenInput } from '../../harness/ports/run-inputs.port.js';
import { lifecycleEvent } from '../log/lifecycle-events.js';
import type { AnswerShape } from '../../vision/answers.service.js';
import type { Lease, Run } from '../run.js';
import type { RunEnding } from './run-ending.js';
import { outcomeOf, runError } from './run-result.js';
import type { RunWriter } from './run-writer.js';

/** Lets the engine end its run: `run_end` and the terminal event are one transaction, nothing comes between. */
export class ExecutorInputs extends RunInputs {
  private isOver = false;

  constructor(
    private readonly ending: RunEnding,
    private readonly lease: Lease,
    private readonly writer: RunWriter,
    private readonly shape: AnswerShape,
    private readonly clock: Clock,
    private readonly facts: () => { readonly execMs: number },
  ) {
    super();
  }

  get hasEnded(): boolean {
    return this.isOver;
  }

  take(): Promise<readonly TakenInput[]> {
    return Promise.resolve([]);
  }

  async mayEnd(end: EventOf<'run_end'>): Promise<boolean> {
    await this.writer.settled();
    this.isOver = await this.ending.finish(this.lease, this.facts(), (run) => [end, this.terminal(run, end)]);
    return this.isOver;
  }

  private terminal(run: Run, end: EventOf<'run_end'>): HarnessEvent {
    const outcome = outcomeOf(end, this.shape.resultOf);
    if (outcome.type === 'completed') {
      return lifecycleEvent(run, this.clock, 'run_completed', {
        result: outcome.result,
        artifacts: [],
        usage: run.usage,
      });
    }
    return lifecycleEvent(run, this.clock, 'run_failed', {
      error: runError(outcome.code, end.text, run.stage, this.writer.lastText),
      artifacts: [],
      usage: run.usage,
    });
  }
}
