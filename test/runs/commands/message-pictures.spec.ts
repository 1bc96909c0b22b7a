import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SubmitMessage } from '../../../src/runs/runs.types.js';
import { cornersPicture } from '../../support/pictures.js';
import { ALICE, aMessage, aSession, storesUnderTest, useCore } from '../../support/core.js';

const [store] = storesUnderTest();

/** A message is refused for its session before anybody decodes or stores its pictures. */
describe('a message with pictures', () => {
  const suite = useCore(store!);

  async function withPicture(sessionId: string, changes: Partial<SubmitMessage> = {}): Promise<SubmitMessage> {
    const bytes = await cornersPicture().png().toBuffer();
    return aMessage(sessionId, { parts: [{ kind: 'resource', resource: { kind: 'bytes', bytes } }], ...changes });
  }

  const hasStored = (): boolean => existsSync(join(suite.core.config.storage.dir, 'blobs'));

  it('is refused without a session', async () => {
    const message = await withPicture(randomUUID());
    await expect(suite.core.runs.submit(ALICE, message)).rejects.toMatchObject({ reason: 'SESSION_NOT_FOUND' });
    expect(hasStored()).toBe(false);
  });

  it('is refused by a deleted session', async () => {
    const sessionId = await aSession(suite.core);
    await suite.core.runs.closeSession(ALICE, sessionId);
    const message = await withPicture(sessionId);
    await expect(suite.core.runs.submit(ALICE, message)).rejects.toMatchObject({ reason: 'SESSION_CLOSED' });
    expect(hasStored()).toBe(false);
  });

  it('is refused by a session without vision', async () => {
    const message = await withPicture(await aSession(suite.core));
    await expect(suite.core.runs.submit(ALICE, message)).rejects.toMatchObject({ reason: 'CAPABILITY_NOT_ENABLED' });
    expect(hasStored()).toBe(false);
  });

  it('is taken by the ADK wire, which has no capabilities', async () => {
    const message = await withPicture(await aSession(suite.core), { door: 'adk' });
    await expect(suite.core.runs.submit(ALICE, message)).resolves.toMatchObject({ disposition: 'started' });
    expect(hasStored()).toBe(true);
  });
});

describe('capabilities of a message', () => {
  const suite = useCore(store!);

  it('are shown sorted, as those of a session', async () => {
    const { session } = await suite.core.sessions.create(ALICE, { agent: 'vision_agent' });
    const message = aMessage(session.id, { capabilities: ['vision', 'image_generation'] });
    const { runId } = await suite.core.runs.submit(ALICE, message);
    const stream = await suite.core.runs.observe(ALICE, {
      sessionId: session.id,
      runId: runId!,
      after: 0,
      stopAtInput: false,
    });
    expect(stream.run.facts.capabilities).toEqual(['image_generation', 'vision']);
  });
});

describe('the source of a picture that the session has', () => {
  const suite = useCore(store!);

  const naming = (sessionId: string, sourceType: 'upload' | 'url') =>
    aMessage(sessionId, { parts: [{ kind: 'resource', resource: { kind: 'stored', resourceId: 'p1', sourceType } }] });

  async function sessionWithUpload(): Promise<string> {
    const { session } = await suite.core.sessions.create(ALICE, { agent: 'vision_agent' });
    await suite.core.pictures.upload(session, 'p1', await cornersPicture().png().toBuffer());
    return session.id;
  }

  it('may be said', async () => {
    const message = naming(await sessionWithUpload(), 'upload');
    await expect(suite.core.runs.submit(ALICE, message)).resolves.toMatchObject({ disposition: 'started' });
  });

  it('must agree', async () => {
    const message = naming(await sessionWithUpload(), 'url');
    await expect(suite.core.runs.submit(ALICE, message)).rejects.toMatchObject({ reason: 'RESOURCE_INVALID' });
  });
});
