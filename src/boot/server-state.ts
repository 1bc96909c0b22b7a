import { Readiness } from '../observability/readiness.js';
import type { Database } from '../database/database.js';

type Phase = 'starting' | 'ready' | 'draining';

const PING_MS = 1000;

/** Whether this process takes work: its phase, and whether the database answers. */
export class ServerState extends Readiness {
  private phase: Phase = 'starting';
  private isDatabaseDown = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {
    super();
  }

  ready(): void {
    this.phase = 'ready';
    this.timer = setInterval(() => void this.ping(), PING_MS);
    this.timer.unref();
  }

  draining(): void {
    this.phase = 'draining';
    clearInterval(this.timer);
  }

  problems(): readonly string[] {
    const problems: string[] = [];
    if (this.phase !== 'ready') problems.push(`the server is ${this.phase}`);
    if (this.isDatabaseDown) problems.push('the database does not answer');
    return problems;
  }

  notes(): readonly string[] {
    return this.database.isDurable ? [] : ['the database is in memory: runs do not survive a restart'];
  }

  private async ping(): Promise<void> {
    try {
      await this.database.ping();
      this.isDatabaseDown = false;
    } catch {
      this.isDatabaseDown = true;
    }
  }
}
