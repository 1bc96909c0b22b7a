import { Worker } from 'node:worker_threads';
import { Subject } from 'rxjs';
import type { Logger } from '../../observability/logger.js';
import { FailureLog } from '../failure-log.js';
import { LeaseRenewal } from '../ports/lease-renewal.port.js';
import { LeaseList } from '../renewal/lease-list.js';
import type { FromRenewal, RenewalSettings, RenewalStart, ToRenewal } from '../renewal/renewal-messages.js';
import type { Lease } from '../run.js';

const FIRST_RESTART_MS = 100;
/** A thread that does not end by itself is ended, milliseconds. */
const STOP_MS = 2000;

/** Starts a renewal thread. */
export type StartThread = (start: RenewalStart) => Worker;

const startThread: StartThread = (workerData) =>
  new Worker(new URL('../renewal/renewal-thread.js', import.meta.url), { name: 'lease-renewal', workerData, env: {} });

/**
 * Renews in a thread with a connection of its own, for databases that several processes share: a tool that blocks the
 * event loop is not a dead worker. A thread that dies is started again with the leases held then.
 */
export class ThreadRenewal extends LeaseRenewal {
  readonly lost$ = new Subject<Lease>();
  private readonly leases = new LeaseList();
  private readonly renewals: FailureLog;
  private readonly threads: FailureLog;
  private thread: Worker | undefined;
  private signs: NodeJS.Timeout | undefined;
  private restart: NodeJS.Timeout | undefined;
  private restartMs = FIRST_RESTART_MS;
  private isStopped = false;

  constructor(
    private readonly settings: RenewalSettings,
    private readonly logger: Logger,
    private readonly launch: StartThread = startThread,
  ) {
    super();
    this.renewals = new FailureLog(logger, 'leases could not be renewed');
    this.threads = new FailureLog(logger, 'the thread that renews leases ended');
  }

  start(): void {
    this.begin();
    this.signs = setInterval(() => this.say({ type: 'alive' }), this.settings.heartbeatMs);
    this.signs.unref();
  }

  add(lease: Lease): void {
    this.leases.add(lease);
    this.say({ type: 'add', lease });
  }

  remove(lease: Lease): void {
    if (this.leases.remove(lease)) this.say({ type: 'remove', lease });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.signs);
    clearTimeout(this.restart);
    const { thread } = this;
    if (thread === undefined) return;
    let limit: NodeJS.Timeout | undefined;
    const ended = new Promise<void>((resolve) => {
      thread.once('exit', () => resolve());
      limit = setTimeout(() => void thread.terminate(), STOP_MS);
    });
    this.say({ type: 'stop' });
    await ended;
    clearTimeout(limit);
  }

  private say(message: ToRenewal): void {
    this.thread?.postMessage(message);
  }

  private begin(): void {
    const startedMs = performance.now();
    let cause: unknown;
    const thread = this.launch({ ...this.settings, leases: this.leases.all() });
    thread.unref();
    thread.on('message', (message: FromRenewal) => this.hear(message));
    thread.on('error', (error) => {
      cause = error;
    });
    thread.once('exit', (code) => {
      this.thread = undefined;
      if (!this.isStopped) this.beginAgain(cause ?? new Error(`it ended with code ${code}`), startedMs);
    });
    this.thread = thread;
  }

  /** Soon, but not in a circle: one that dies at once is started more and more seldom. */
  private beginAgain(cause: unknown, startedMs: number): void {
    this.threads.failed(cause);
    const { heartbeatMs } = this.settings;
    if (performance.now() - startedMs > heartbeatMs) this.restartMs = FIRST_RESTART_MS;
    this.restart = setTimeout(() => this.begin(), this.restartMs * (0.5 + Math.random() / 2));
    this.restartMs = Math.min(this.restartMs * 2, heartbeatMs);
  }

  private hear(message: FromRenewal): void {
    switch (message.type) {
      case 'started':
        this.threads.worked();
        return;
      case 'worked':
        this.renewals.worked();
        return;
      case 'failed':
        this.renewals.failed(Object.assign(new Error(message.message), { code: message.code }));
        return;
      case 'lost':
        for (const lease of message.leases) if (this.leases.remove(lease)) this.lost$.next(lease);
        return;
      case 'silent':
        this.logger.error('the process gave no sign of life, and its leases were not renewed', {
          silentMs: message.silentMs,
        });
        return;
    }
  }
}
