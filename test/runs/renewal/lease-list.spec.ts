import { LeaseList } from '../../../src/runs/renewal/lease-list.js';

describe('LeaseList', () => {
  it('lists in the order of ids, whatever the order they came in', () => {
    const list = new LeaseList([{ runId: 'b', epoch: 1 }]);
    list.add({ runId: 'c', epoch: 1 });
    list.add({ runId: 'a', epoch: 1 });
    expect(list.all().map(({ runId }) => runId)).toEqual(['a', 'b', 'c']);
  });

  it('has one lease of a run, the last, and keeps it when an older one is removed', () => {
    const list = new LeaseList([{ runId: 'a', epoch: 1 }]);
    list.add({ runId: 'a', epoch: 3 });
    expect(list.remove({ runId: 'a', epoch: 1 })).toBe(false);
    expect(list.all()).toEqual([{ runId: 'a', epoch: 3 }]);
    expect(list.remove({ runId: 'a', epoch: 3 })).toBe(true);
    expect(list.remove({ runId: 'a', epoch: 3 })).toBe(false);
    expect(list.size).toBe(0);
  });
});
