import { NO_USAGE } from '../../../src/events/values.js';
import { usageAfter } from '../../../src/runs/log/usage.js';
import { EngineEvents } from '../../support/fake-runtime.js';
import { lifeEvent } from '../../support/life-cycle.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });

describe('usageAfter', () => {
  it('adds what answers and late reports say, and remembers an estimate', () => {
    const counts = {
      promptTokens: 10,
      completionTokens: 5,
      totalTokens: 15,
      cacheCreationInputTokens: 3,
      cacheReadInputTokens: 2,
    };
    const answered = usageAfter(NO_USAGE, { ...engine.answer('x', 'a'), usage: counts } as never);
    expect(answered).toEqual({ inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedTokens: 2, estimated: false });
    const late = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedTokens: 1, estimated: true };
    const after = usageAfter(answered, lifeEvent('usage', { usage: late }));
    expect(after).toEqual({ inputTokens: 11, outputTokens: 6, totalTokens: 17, cachedTokens: 3, estimated: true });
    expect(usageAfter(after, { ...engine.answer('y', 'b'), usage: counts } as never).estimated).toBe(true);
  });

  it('is the very same object when nothing is reported', () => {
    const { usage: _usage, ...silent } = engine.answer('x', 'a') as never as Record<string, unknown>;
    expect(usageAfter(NO_USAGE, silent as never)).toBe(NO_USAGE);
    expect(usageAfter(NO_USAGE, engine.text('x', 'a'))).toBe(NO_USAGE);
  });
});
