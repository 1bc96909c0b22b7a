import { Metrics } from '../../src/observability/metrics.js';
import { traceIdFrom } from '../../src/observability/trace-id.js';

describe('Metrics', () => {
  it('shows every series from the start, beside those of the process', async () => {
    const text = await new Metrics().registry.metrics();
    for (const line of [
      'bridle_runs{status="queued"} 0',
      'bridle_runs{status="expired"} 0',
      'bridle_queue_depth 0',
      'bridle_open_observers 0',
      'bridle_commit_rows_count 0',
      'bridle_commit_seconds_count 0',
      'bridle_fenced_writes_total 0',
      'bridle_tokens_total{direction="output"} 0',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('counts what it is told', async () => {
    const metrics = new Metrics();
    metrics.runEntered('queued');
    metrics.runEntered('queued');
    metrics.committed(7, 3);
    metrics.fenced();
    metrics.tokensUsed({ input: 10, output: 4, cached: 2 });
    metrics.observeQueueDepth(() => Promise.resolve(5));
    metrics.observeOpenObservers(() => 6);
    const lines = (await metrics.registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'bridle_runs{status="queued"} 2',
        'bridle_commit_rows_sum 7',
        'bridle_commit_rows_bucket{le="5"} 0',
        'bridle_commit_rows_bucket{le="10"} 1',
        'bridle_commit_seconds_sum 0.003',
        'bridle_fenced_writes_total 1',
        'bridle_tokens_total{direction="input"} 10',
        'bridle_tokens_total{direction="cached"} 2',
        'bridle_queue_depth 5',
        'bridle_open_observers 6',
      ]),
    );
  });

  it('keeps the others when one figure cannot be read', async () => {
    const metrics = new Metrics();
    metrics.observeQueueDepth(() => Promise.reject(new Error('no database')));
    metrics.observeOpenObservers(() => {
      throw new Error('broken');
    });
    const text = await metrics.registry.metrics();
    expect(text).not.toMatch(/^bridle_(queue_depth|open_observers) /m);
    expect(text).toContain('bridle_fenced_writes_total 0');
  });
});

describe('traceIdFrom', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';

  it('takes the caller’s', () => {
    expect(traceIdFrom(`00-${TRACE}-b7ad6b7169203331-01`)).toBe(TRACE);
    expect(traceIdFrom(`01-${TRACE}-b7ad6b7169203331-01-more`)).toBe(TRACE);
  });

  it.each([
    undefined,
    '',
    TRACE,
    `ff-${TRACE}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
    [`00-${TRACE}-b7ad6b7169203331-01`],
  ])('makes a new one instead of %j', (header) => {
    const made = traceIdFrom(header);
    expect(made).toMatch(/^[0-9a-f]{32}$/);
    expect(made).not.toBe(TRACE);
    expect(traceIdFrom(header)).not.toBe(made);
  });
});
