import type { EngineEvent } from '../../src/events/harness-event.js';
import type { LoggedEvent } from '../../src/events/projection.js';
import { FencedError } from '../../src/runs/ports/event-log.port.js';
import type { Lease } from '../../src/runs/run.js';
import {
  ALICE,
  aSession,
  finish,
  logOf,
  runRow,
  submitted,
  turns,
  typesIn,
  useCore,
  type Core,
  type StoreUnderTest,
} from '../support/core.js';
import { EngineEvents } from '../support/fake-runtime.js';

const COALESCING = { BRIDLE_EVENTS_DELTA_MAX_BYTES: '64' };
const OFF = { BRIDLE_EVENTS_COALESCE: 'false' };

interface Writer {
  readonly lease: Lease;
  readonly events: EngineEvents;
}

/** What an `EventLog` promises to those who write and to those who read. */
export function eventLogContract(store: StoreUnderTest): void {
  const suite = useCore(store, () => ({ variables: COALESCING }));
  let core: Core;

  beforeEach(() => {
    core = suite.core;
  });

  const aWriter = async (): Promise<Writer> => {
    const sessionId = await aSession(core);
    const runId = await submitted(core, sessionId);
    const lease = await core.claims.claimNext();
    if (lease?.runId !== runId) throw new Error('another run was claimed');
    return { lease, events: new EngineEvents({ runId, sessionId }) };
  };
  const outcome = (appended: Promise<void>): Promise<unknown> =>
    appended.then(
      () => 'written',
      (error: unknown) => error,
    );

  it('numbers the events of a run without a gap, whoever writes them', async () => {
    const { lease, events } = await aWriter();
    await core.log.append(lease, events.start('x'));
    await core.log.append(lease, events.text('x', 'a'));
    const row = await runRow(core.database, lease.runId);
    await core.runs.cancel(ALICE, { sessionId: row.sessionId, requestId: 'stop' });
    await core.log.append(lease, events.answer('x', 'a'));
    const log = await logOf(core, lease.runId);
    expect(log.map((event) => [event.seq, event.type, event.status])).toEqual([
      [1, 'run_queued', 'queued'],
      [2, 'run_running', 'running'],
      [3, 'reason_start', 'running'],
      [4, 'reason_delta', 'running'],
      [5, 'cancelling', 'cancelling'],
      [6, 'reason_end', 'cancelling'],
    ]);
    expect(await runRow(core.database, lease.runId)).toMatchObject({ lastSeq: 6, status: 'cancelling' });
  });

  it('keeps what was appended, field by field', async () => {
    const { lease, events } = await aWriter();
    const call = { callId: 'c1', providerCallId: 'call_1', toolName: 'now', args: { zone: '上海\n"q"', n: 1.5 } };
    const appended = [
      events.make('run_start', {}),
      events.start('x'),
      events.thinking('x', 'hm'),
      events.answer('x', 'let me see', [call]),
      events.toolStart('x', 'c1'),
      { ...events.toolEnd('x', 'c1'), meta: { json: true } } as EngineEvent,
      {
        ...events.make('run_start', {}),
        runId: 'child',
        parent: { runId: lease.runId, taskId: 't', taskIndex: 0, agentName: 'a', description: 'd' },
      } as EngineEvent,
    ];
    await Promise.all(appended.map((event) => core.log.append(lease, event)));
    const stored = (await logOf(core, lease.runId)).slice(2);
    expect(stored.map(({ seq: _seq, status: _status, code: _code, stage: _stage, ...event }) => event)).toEqual(
      appended,
    );
    expect(stored.at(-1)).toMatchObject({ code: 'CALLING_MODEL', stage: 'reasoning' });
    expect(await runRow(core.database, lease.runId)).toMatchObject({ code: 'CALLING_MODEL', stage: 'reasoning' });
  });

  it('keeps the order of each of many runs that are written at once', async () => {
    const writers: Writer[] = [];
    for (let n = 0; n < 12; n += 1) writers.push(await aWriter());
    await Promise.all(
      writers.map(async ({ lease, events }) => {
        const appends: Promise<void>[] = [];
        for (let n = 0; n < 40; n += 1) {
          appends.push(core.log.append(lease, events.start(`x${n}`)));
          if (n % 3 === 0) await appends.at(-1);
        }
        await Promise.all(appends);
      }),
    );
    for (const { lease } of writers) {
      const log = await logOf(core, lease.runId);
      expect(log.map((event) => event.seq)).toEqual(Array.from({ length: 42 }, (_unused, index) => index + 1));
      expect(log.slice(2).map((event) => ('reasonId' in event ? event.reasonId : ''))).toEqual(
        Array.from({ length: 40 }, (_unused, index) => `x${index}`),
      );
    }
  });

  it('takes more rows at once than one statement holds', async () => {
    const { lease, events } = await aWriter();
    await Promise.all(Array.from({ length: 1100 }, (_unused, n) => core.log.append(lease, events.start(`x${n}`))));
    expect((await runRow(core.database, lease.runId)).lastSeq).toBe(1102);
    const page = await core.log.read(lease.runId, 1099, 2);
    expect(page.map((event) => event.seq)).toEqual([1100, 1101]);
    expect(await core.log.read(lease.runId, 1102, 10)).toEqual([]);
  });

  it('is durable before it is visible, and visible before `append` resolves', async () => {
    const { lease, events } = await aWriter();
    const seen: Promise<readonly LoggedEvent[]>[] = [];
    const watching = core.hints.hints$.subscribe((hint) => {
      seen.push(core.log.read(hint.runId, 0, 100).then((log) => log.filter((event) => event.seq <= hint.seq)));
      expect(hint.events?.at(-1)?.seq).toBe(hint.seq);
    });
    await core.log.append(lease, events.start('x'));
    expect(typesIn(await logOf(core, lease.runId))).toEqual(['run_queued', 'run_running', 'reason_start']);
    watching.unsubscribe();
    const logs = await Promise.all(seen);
    expect(logs.map((log) => log.at(-1)?.seq)).toEqual([3]);
  });

  it('drops the rows of a fenced run and writes those of its neighbours in the same batch', async () => {
    const [a, b, c] = [await aWriter(), await aWriter(), await aWriter()];
    await core.takeover.takeOver(b.lease.runId, undefined);
    const outcomes = await Promise.all(
      [a, b, c].map(({ lease, events }) => outcome(core.log.append(lease, events.start('x')))),
    );
    expect(outcomes).toEqual(['written', expect.any(FencedError), 'written']);
    expect(typesIn(await logOf(core, a.lease.runId)).at(-1)).toBe('reason_start');
    expect(typesIn(await logOf(core, b.lease.runId))).toEqual(['run_queued', 'run_running', 'recovered']);
    expect(typesIn(await logOf(core, c.lease.runId)).at(-1)).toBe('reason_start');
  });

  it('tells the old and the new holder of a run apart in one batch', async () => {
    const old = await aWriter();
    await core.takeover.takeOver(old.lease.runId, undefined);
    const lease = await core.claims.claimNext();
    const outcomes = await Promise.all([
      outcome(core.log.append(old.lease, old.events.start('old'))),
      outcome(core.log.append(lease!, old.events.start('new'))),
      outcome(core.log.append(old.lease, old.events.start('old again'))),
    ]);
    expect(outcomes).toEqual([expect.any(FencedError), 'written', expect.any(FencedError)]);
    const last = (await logOf(core, old.lease.runId)).at(-1);
    expect(last).toMatchObject({ type: 'reason_start', reasonId: 'new' });
  });

  it('refuses a run that has ended, and one that never was', async () => {
    const { lease, events } = await aWriter();
    const other = await aWriter();
    await finish(core, lease);
    const unknown = { runId: 'nobody', epoch: 1 };
    const outcomes = await Promise.all([
      outcome(core.log.append(lease, events.start('x'))),
      outcome(core.log.append(unknown, events.start('x'))),
      outcome(core.log.append(other.lease, other.events.start('x'))),
    ]);
    expect(outcomes).toEqual([expect.any(FencedError), expect.any(FencedError), 'written']);
    expect(typesIn(await logOf(core, lease.runId)).at(-1)).toBe('run_completed');
  });

  it('does not let a row that the database refuses harm the other runs of its batch', async () => {
    const [a, b, c] = [await aWriter(), await aWriter(), await aWriter()];
    const broken = { ...b.events.start('x'), at: null } as unknown as EngineEvent;
    const outcomes = await Promise.all([
      outcome(core.log.append(a.lease, a.events.start('x'))),
      outcome(core.log.append(b.lease, broken)),
      outcome(core.log.append(c.lease, c.events.start('x'))),
    ]);
    expect(outcomes).toEqual(['written', expect.any(Error), 'written']);
    expect(outcomes[1]).not.toBeInstanceOf(FencedError);
    await core.log.append(b.lease, b.events.start('y'));
    expect((await logOf(core, b.lease.runId)).map((event) => event.seq)).toEqual([1, 2, 3]);
  });

  it('writes nothing that waited behind an event that was refused', async () => {
    const [a, b] = [await aWriter(), await aWriter()];
    const refused = outcome(core.log.append(a.lease, { ...a.events.start('x'), at: null } as unknown as EngineEvent));
    await turns(1); // its commit is under way
    const behind = [a.events.text('x', 'a'), a.events.answer('x', 'a')].map((event) =>
      outcome(core.log.append(a.lease, event)),
    );
    const neighbour = outcome(core.log.append(b.lease, b.events.start('x')));
    const error = await refused;
    expect(error).toBeInstanceOf(Error);
    expect(await Promise.all(behind)).toEqual([error, error]);
    expect(await neighbour).toBe('written');
    expect(typesIn(await logOf(core, a.lease.runId))).toEqual(['run_queued', 'run_running']);
  });

  it('settles when what waits is committed or refused, and never rejects', async () => {
    const [a, b] = [await aWriter(), await aWriter()];
    await core.takeover.takeOver(b.lease.runId, undefined);
    const outcomes: unknown[] = [];
    void outcome(core.log.append(a.lease, a.events.start('x'))).then((result) => outcomes.push(result));
    void outcome(core.log.append(b.lease, b.events.start('x'))).then((result) => outcomes.push(result));
    await Promise.all([core.log.settled(a.lease.runId), core.log.settled(b.lease.runId)]);
    expect(outcomes).toEqual(['written', expect.any(FencedError)]);
    await core.log.settled('nobody');
  });

  it('joins waiting deltas of one reason and kind up to the bound, and loses no text', async () => {
    const { lease, events } = await aWriter();
    const words = Array.from({ length: 60 }, (_unused, n) => `wörd${n} `);
    await Promise.all([
      core.log.append(lease, events.start('x')),
      core.log.append(lease, events.thinking('x', 'hm')),
      ...words.map((word) => core.log.append(lease, events.text('x', word))),
    ]);
    const deltas = (await logOf(core, lease.runId)).filter((event) => event.type === 'reason_delta');
    expect(deltas.length).toBeLessThan(words.length / 2);
    expect(deltas.map((delta) => delta.kind)).toEqual(['thinking', ...deltas.slice(1).map(() => 'text')]);
    expect(
      deltas
        .slice(1)
        .map((delta) => delta.text)
        .join(''),
    ).toBe(words.join(''));
    for (const delta of deltas) expect(Buffer.byteLength(delta.text ?? '')).toBeLessThanOrEqual(64);
  });

  it('keeps every delta when joining is switched off', async () => {
    const plain = await suite.another({ variables: OFF });
    const { lease, events } = await aWriter();
    await Promise.all(['a', 'b', 'c'].map((text) => plain.log.append(lease, events.text('x', text))));
    const deltas = (await logOf(core, lease.runId)).filter((event) => event.type === 'reason_delta');
    expect(deltas.map((delta) => delta.text)).toEqual(['a', 'b', 'c']);
  });

  it('adds up tokens, and forgets lost attempts when the run makes progress', async () => {
    const { lease: lost } = await aWriter();
    await core.takeover.takeOver(lost.runId, undefined);
    const lease = (await core.claims.claimNext())!;
    expect(await runRow(core.database, lease.runId)).toMatchObject({ takeovers: 1, attempt: 2 });
    const row = await runRow(core.database, lease.runId);
    const events = new EngineEvents({ runId: row.id, sessionId: row.sessionId });
    await core.log.append(lease, events.answer('x', 'a'));
    await Promise.all([
      core.log.append(lease, events.answer('y', 'b')),
      core.log.append(lease, events.answer('z', 'c')),
    ]);
    expect(await runRow(core.database, lease.runId)).toMatchObject({
      takeovers: 0,
      attempt: 2,
      usage: { inputTokens: 30, outputTokens: 15, totalTokens: 45, cachedTokens: 0, estimated: false },
    });
  });
}
