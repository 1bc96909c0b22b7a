import type { EndReason } from '../../../src/events/values.js';
import { outcomeOf, isRunReason, runError } from '../../../src/runs/execution/run-result.js';
import { EngineEvents } from '../../support/fake-runtime.js';

const engine = new EngineEvents({ runId: 'r1', sessionId: 's1' });
const asJson = (text: string) => ({ type: 'json', data: { text } }) as const;

describe('outcomeOf', () => {
  it.each<[EndReason, string]>([
    ['max_turns', 'TURN_LIMIT'],
    ['budget', 'BUDGET_EXCEEDED'],
    ['loop', 'LOOP_DETECTED'],
    ['empty_answer', 'EMPTY_ANSWER'],
    ['invalid_result', 'RESULT_INVALID'],
    ['provider_error', 'PROVIDER_ERROR'],
  ])('an end by %s fails with %s', (reason, code) => {
    expect(outcomeOf(engine.end('text', reason), asJson)).toEqual({ type: 'failed', code });
  });

  it('names a model that cannot see', () => {
    const end = { ...engine.end('no', 'provider_error'), meta: { reason: 'MODEL_LACKS_VISION' } };
    expect(outcomeOf(end, asJson)).toEqual({ type: 'failed', code: 'MODEL_LACKS_VISION' });
  });

  it('shapes a good answer, and only tells the text of one that a human stopped', () => {
    expect(outcomeOf(engine.end('good'), asJson)).toEqual({ type: 'completed', result: asJson('good') });
    for (const end of ['rejected', 'feedback'] as const) {
      const result = { type: 'text', data: { text: 'stopped', end } };
      expect(outcomeOf(engine.end('stopped', end), asJson)).toEqual({ type: 'completed', result });
    }
  });
});

describe('runError', () => {
  it('says whether another try makes sense, and keeps the text that the run has', () => {
    expect(runError('PROVIDER_ERROR', 'm', 'reasoning', 'half')).toEqual({
      code: 'PROVIDER_ERROR',
      message: 'm',
      retryable: true,
      stage: 'reasoning',
      details: { text: 'half' },
    });
    expect(runError('TURN_LIMIT', 'm', 's', '')).toEqual({
      code: 'TURN_LIMIT',
      message: 'm',
      retryable: false,
      stage: 's',
    });
    expect(runError('BUDGET_EXCEEDED', 'm', 's', 't', { limit: 'runs.maxExecMs' }).details).toEqual({
      limit: 'runs.maxExecMs',
      text: 't',
    });
  });
});

it.each([
  ['IMAGE_UNREACHABLE', true],
  ['PROVIDER_ERROR', true],
  ['RESOURCE_NOT_FOUND', false],
  ['STORE_UNAVAILABLE', false],
  ['INTERNAL', false],
] as const)('%s is a code that a run may fail with: %s', (reason, expected) => {
  expect(isRunReason(reason)).toBe(expected);
});
