import fc from 'fast-check';
import { storesUnderTest, useCore } from '../support/core.js';
import { propertyRuns } from '../support/property-runs.js';
import { OPERATIONS, RunLife, type Operation } from '../support/run-life.js';

const operation: fc.Arbitrary<Operation> = fc.record({
  // working is what runs do most
  what: fc.oneof(
    { arbitrary: fc.constantFrom(...OPERATIONS), weight: 1 },
    { arbitrary: fc.constant('step' as const), weight: 1 },
  ),
  pick: fc.nat(1000),
});

describe.each(storesUnderTest())('the life of runs on $name', (store) => {
  const suite = useCore(store);

  it('keeps every rule of log, row, queue and history, whatever happens in whatever order', async () => {
    const done: Record<string, number> = {};
    const lives = fc.asyncProperty(
      fc.array(operation, { minLength: 20, maxLength: 50, size: 'max' }),
      async (operations) => {
        const life = new RunLife(suite.core);
        await life.play(operations);
        for (const [what, times] of Object.entries(life.done)) done[what] = (done[what] ?? 0) + times;
      },
    );
    await fc.assert(lives, { numRuns: propertyRuns(200), endOnFailure: true });
    // no operation was only imagined
    expect(Object.keys(done).toSorted()).toEqual([...OPERATIONS].toSorted());
  }, 300_000);
});
