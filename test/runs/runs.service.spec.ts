import { randomUUID } from 'node:crypto';
import type { RunsService } from '../../src/runs/runs.service.js';
import { ALICE, aSession, storesUnderTest, submitted, useCore } from '../support/core.js';

const [store] = storesUnderTest();
const BOB = { ...ALICE, tenantId: 't2' };
const nobodyLeaves = new AbortController().signal;

type Read = (runs: RunsService, run: { sessionId: string; runId: string }, who?: typeof ALICE) => Promise<unknown>;

const READS: readonly (readonly [string, Read])[] = [
  ['a page', (runs, run, who = ALICE) => runs.page(who, { ...run, cursor: 0, limit: 10, waitMs: 0 }, nobodyLeaves)],
  ['a stream', (runs, run, who = ALICE) => runs.observe(who, { ...run, after: 0, stopAtInput: false })],
];

describe.each(READS)('%s of a run that cannot be read', (_name, read) => {
  const suite = useCore(store!);

  it('names the session when there is no such session', async () => {
    const run = { sessionId: randomUUID(), runId: randomUUID() };
    await expect(read(suite.core.runs, run)).rejects.toMatchObject({ reason: 'SESSION_NOT_FOUND' });
  });

  it('names the run when the session is there', async () => {
    const run = { sessionId: await aSession(suite.core), runId: randomUUID() };
    await expect(read(suite.core.runs, run)).rejects.toMatchObject({ reason: 'RUN_NOT_FOUND' });
  });

  it('says that the session was deleted', async () => {
    const sessionId = await aSession(suite.core);
    const runId = await submitted(suite.core, sessionId);
    await suite.core.runs.closeSession(ALICE, sessionId);
    await expect(read(suite.core.runs, { sessionId, runId })).rejects.toMatchObject({ reason: 'SESSION_CLOSED' });
  });

  it('knows nothing of it for another tenant', async () => {
    const sessionId = await aSession(suite.core);
    const runId = await submitted(suite.core, sessionId);
    const refusal = { reason: 'SESSION_NOT_FOUND' };
    await expect(read(suite.core.runs, { sessionId, runId }, BOB)).rejects.toMatchObject(refusal);
  });
});
