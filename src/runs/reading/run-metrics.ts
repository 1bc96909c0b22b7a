import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Subscription } from 'rxjs';
import { Database } from '../../database/database.js';
import type { EventType } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import { Metrics } from '../../observability/metrics.js';
import { RunHints } from '../ports/run-hints.port.js';

/** Events with which a run enters a status. */
const ENTRIES: ReadonlySet<EventType> = new Set<EventType>([
  'run_queued',
  'run_running',
  'input_required',
  'cancelling',
  'recovered',
  'run_completed',
  'run_failed',
  'run_cancelled',
  'run_expired',
]);

/** Counts what this process committed. */
@Injectable()
export class RunMetrics implements OnApplicationShutdown {
  private readonly subscription: Subscription;

  constructor(
    hints: RunHints,
    database: Database,
    private readonly metrics: Metrics,
  ) {
    this.subscription = hints.hints$.subscribe((hint) => hint.events?.forEach((event) => this.count(event)));
    metrics.observeQueueDepth(async () => {
      const rows = await database.query<{ n: number }>("SELECT COUNT(*) AS n FROM runs WHERE queue_state = 'ready'");
      return Number(rows[0]?.n ?? 0);
    });
  }

  onApplicationShutdown(): void {
    this.subscription.unsubscribe();
  }

  private count(event: LoggedEvent): void {
    if (ENTRIES.has(event.type)) this.metrics.runEntered(event.status);
    if (event.type === 'reason_end' && event.usage !== undefined) {
      const { promptTokens: input, completionTokens: output, cacheReadInputTokens: cached } = event.usage;
      this.metrics.tokensUsed({ input, output, cached });
    }
  }
}
