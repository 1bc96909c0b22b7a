import type { LoggedEvent } from '../../src/events/projection.js';
import type { RunHint, RunHints } from '../../src/runs/ports/run-hints.port.js';

const event = { seq: 7, type: 'run_start' } as unknown as LoggedEvent;

/** What `RunHints` promise: every subscriber of every process hears every hint, none is worth more than a look. */
export function runHintsContract(open: () => RunHints): void {
  it('reach every subscriber, in the order of their publication', () => {
    const hints = open();
    const heard: [string, RunHint][] = [];
    hints.hints$.subscribe((hint) => heard.push(['a', hint]));
    hints.hints$.subscribe((hint) => heard.push(['b', hint]));
    hints.publish({ runId: 'r1', seq: 7, events: [event] });
    hints.publish({ runId: 'r2', seq: 1 });
    expect(heard.map(([who, hint]) => [who, hint.runId, hint.seq])).toEqual([
      ['a', 'r1', 7],
      ['b', 'r1', 7],
      ['a', 'r2', 1],
      ['b', 'r2', 1],
    ]);
  });

  it('keep nothing for those who come later, and reach nobody who left', () => {
    const hints = open();
    const heard: number[] = [];
    hints.publish({ runId: 'r1', seq: 1 });
    const subscription = hints.hints$.subscribe((hint) => heard.push(hint.seq));
    hints.publish({ runId: 'r1', seq: 2 });
    subscription.unsubscribe();
    hints.publish({ runId: 'r1', seq: 3 });
    expect(heard).toEqual([2]);
  });
}
