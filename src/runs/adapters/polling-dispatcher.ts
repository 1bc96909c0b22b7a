import { Injectable } from '@nestjs/common';
import { interval, map, merge, Subject } from 'rxjs';
import { Config } from '../../config/config.js';
import { RunDispatcher } from '../ports/run-dispatcher.port.js';

/** The embedded dispatcher: announcements of this process at once, those of others by looking every `events.pollMs`. */
@Injectable()
export class PollingDispatcher extends RunDispatcher {
  private readonly announced = new Subject<void>();
  readonly due$;

  constructor(config: Config) {
    super();
    this.due$ = merge(this.announced, interval(config.events.pollMs).pipe(map(() => undefined)));
  }

  announce(): void {
    this.announced.next();
  }
}
