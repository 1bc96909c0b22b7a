import type { EngineEvent } from '../../events/harness-event.js';
import { EventLog } from '../ports/event-log.port.js';
import type { HeldRun } from './held-runs.js';

const MAX_WAITING_DELTA_BYTES = 64 * 1024;

/**
 * Writes an executor's events into the log: each is durable before the engine goes on, except deltas, of which
 * 64 KiB may wait.
 */
export class RunWriter {
  private waitingBytes = 0;
  private text = '';
  private isNewAnswer = true;

  constructor(
    private readonly log: EventLog,
    private readonly held: HeldRun,
  ) {}

  /** The newest text that the model said, whole or partial: a failed run keeps it. */
  get lastText(): string {
    return this.text;
  }

  async write(event: EngineEvent): Promise<void> {
    this.follow(event);
    const appended = this.log.append(this.held.lease, event);
    if (event.type !== 'reason_delta') return appended;
    const bytes = Buffer.byteLength(event.text ?? '');
    this.waitingBytes += bytes;
    const settled = appended.then(
      () => {
        this.waitingBytes -= bytes;
      },
      () => this.held.stop('fenced'),
    );
    if (this.waitingBytes > MAX_WAITING_DELTA_BYTES) await settled;
  }

  private follow(event: EngineEvent): void {
    if (event.parent !== undefined) return;
    if (event.type === 'reason_start') {
      this.isNewAnswer = true;
    } else if (event.type === 'reason_delta' && event.kind === 'text') {
      this.text = (this.isNewAnswer ? '' : this.text) + (event.text ?? '');
      this.isNewAnswer = false;
    } else if (event.type === 'reason_end' && event.text !== '') {
      this.text = event.text;
    }
  }
}
