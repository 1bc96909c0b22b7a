import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock } from '../../../src/common/clock.js';
import type { ToolContext } from '../../../src/harness/ports/tool.port.js';
import { EffectsFile } from '../../../src/harness/tools/effects-file.js';
import { ScriptTool } from '../../../src/harness/tools/script-tool.js';

class FixedClock extends Clock {
  nowMs(): number {
    return 1000;
  }
}

const context: ToolContext = {
  runId: 'r1',
  sessionId: 's1',
  agentName: 'harness_agent',
  callId: 'c1',
  stepKey: 'tool:c1',
  values: {},
  attempt: 2,
};

describe('ScriptTool', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bridle-effects-'));
    path = join(folder, 'new', 'effects.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const toolOf = (name: string) => new ScriptTool(name, new EffectsFile(path), new FixedClock());
  const lines = async (): Promise<unknown[]> =>
    (await readFile(path, 'utf8').catch(() => ''))
      .split('\n')
      .filter(Boolean)
      .map((line): unknown => JSON.parse(line));

  it('leaves one line, in a folder it makes itself', async () => {
    expect(await toolOf('pay').run({ ms: 1 }, context, new AbortController().signal)).toBe('pay took 1 ms');
    expect(await lines()).toEqual([{ runId: 'r1', stepKey: 'tool:c1', attempt: 2, tool: 'pay', at: 1000 }]);
  });

  it('has no effect when it is aborted', async () => {
    const abort = new AbortController();
    const running = toolOf('pay').run({ ms: 60_000 }, context, abort.signal);
    abort.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    expect(await lines()).toEqual([]);
  });

  it('blocks the event loop when asked to', async () => {
    let fired = false;
    setTimeout(() => (fired = true), 5);
    const before = performance.now();
    const running = toolOf('long').run({ ms: 60, block: true }, context, new AbortController().signal);
    expect(performance.now() - before).toBeGreaterThan(50);
    expect(fired).toBe(false);
    await running;
    expect(await lines()).toHaveLength(1);
  });

  it.each([
    ['pay', 'unsafe'],
    ['ro_read', 'read_only'],
    ['idem_put', 'idempotent'],
  ])('is %s, so its effect is %s', (name, effect) => {
    expect(toolOf(name).effect).toBe(effect);
    expect(toolOf(name).declaration.name).toBe(name);
  });
});
