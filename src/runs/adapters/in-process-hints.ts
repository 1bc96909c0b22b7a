import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { RunHints, type RunHint } from '../ports/run-hints.port.js';

/** Hints that stay in the process: the RxJS event bus between engine and transports. */
@Injectable()
export class InProcessHints extends RunHints {
  private readonly subject = new Subject<RunHint>();
  readonly hints$ = this.subject.asObservable();

  publish(hint: RunHint): void {
    this.subject.next(hint);
  }
}
