// Random models, tools, inputs and aborts against the ordering grammar. Not covered: compression, approvals, children.
import fc from 'fast-check';
import type { JsonObject } from '../../../src/common/json.js';
import type { ChatMessage } from '../../../src/harness/ports/chat-model.port.js';
import { anEngineInput, FakeTool, only, record, ScriptedInputs } from '../../support/engine-run.js';
import { pairingFault, type WireMessage } from '../../support/fake-llm.js';
import { assertGrammar } from '../../support/grammar.js';
import {
  callStep,
  failWith,
  finishStep,
  ScriptedChatModel,
  textStep,
  thinkingStep,
  type ScriptStep,
} from '../../support/scripted-chat-model.js';

const numRuns = process.env.BRIDLE_TEST_FULL === undefined ? 60 : 600;

const piece = fc.constantFrom('a', 'Hello ', '\n', ' ', '\ud83d', '\ude00', '');
const args = fc.constantFrom<JsonObject | string>({}, { q: 'x' }, { q: 7 }, '{"q": oops}', { q: '\ud83d' });
const toolName = fc.constantFrom('ro_a', 'ro_b', 'write', 'boom', 'slow', 'nope');

const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  { weight: 4, arbitrary: piece.map(textStep) },
  { weight: 2, arbitrary: piece.map(thinkingStep) },
  { weight: 1, arbitrary: fc.constant<ScriptStep>({ waitMs: 1 }) },
);
const ending: fc.Arbitrary<readonly ScriptStep[]> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls').map((r) => [finishStep(r as 'stop')]),
  },
  { weight: 2, arbitrary: fc.boolean().map((retryable) => [failWith('http', { status: 500, retryable })]) },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant<readonly ScriptStep[]>([{ failure: new Error('bug') }]) },
);
const answer = fc
  .tuple(fc.array(step, { maxLength: 4 }), fc.array(fc.tuple(toolName, args), { maxLength: 3 }), ending)
  .map(([steps, calls, end]) => [
    ...steps,
    ...calls.map(([name, given], index) => callStep(name, given, `${name}_${index}`)),
    ...end,
  ]);

const scenario = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
  inputs: fc.array(fc.constantFrom([], [], ['steer']), { maxLength: 8 }),
  refusals: fc.nat(2),
  maxTurns: fc.integer({ min: 1, max: 8 }),
  abortAt: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined, freq: 2 }),
  abortAfterMs: fc.option(fc.nat(15), { nil: undefined, freq: 2 }),
  isChecked: fc.boolean(),
});

const SCHEMA = { type: 'object', properties: { q: { type: 'string' } } };

function someTools(): FakeTool[] {
  return [
    new FakeTool('ro_a', () => 'a', 'read_only', SCHEMA),
    new FakeTool(
      'ro_b',
      () => new Promise((resolve) => setTimeout(() => resolve({ json: 1 }), 2)),
      'read_only',
      SCHEMA,
    ),
    new FakeTool('write', () => 'w', 'unsafe', SCHEMA),
    new FakeTool('boom', () => Promise.reject(new Error('x')), 'read_only', SCHEMA),
    new FakeTool('slow', () => new Promise(() => undefined), 'read_only', SCHEMA, 3),
  ];
}

/** The history as a strict provider reads it. */
const toWire = (message: ChatMessage): WireMessage =>
  message.role === 'tool'
    ? { role: 'tool', content: message.text, tool_call_id: message.callId }
    : message.role === 'user'
      ? { role: 'user', content: '' }
      : {
          role: 'assistant',
          content: message.text,
          tool_calls: message.toolCalls.map(({ id, name }) => ({ id, function: { name, arguments: '' } })),
        };

describe('every stream of the engine', () => {
  it('follows the grammar, keeps calls paired and starts nothing after an abort', async () => {
    const seen = { complete: 0, broken: 0, tools: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(scenario, async ({ answers, inputs, refusals, maxTurns, abortAt, abortAfterMs, isChecked }) => {
        const model = new ScriptedChatModel(answers);
        const tools = someTools();
        const answerCheck = {
          shape: 'schema',
          problemOf: (text: string) => (text.length % 2 ? 'odd' : undefined),
        } as const;
        const input = anEngineInput(model, {
          tools,
          inputs: new ScriptedInputs(inputs, refusals),
          ...(isChecked && { answerCheck }),
        });
        const abort = new AbortController();
        let startsAtAbort = -1;
        const starts = (): number => model.requests.length + tools.reduce((sum, tool) => sum + tool.started.length, 0);
        abort.signal.addEventListener('abort', () => (startsAtAbort = starts()));
        const timer =
          abortAfterMs === undefined ? undefined : setTimeout(() => abort.abort(new Error('stop')), abortAfterMs);
        const limits = { ...input.limits, maxTurns };
        const run = await record({ ...input, limits }, abort, (_event, count) => count === abortAt);
        clearTimeout(timer);
        await new Promise((resolve) => setImmediate(resolve));

        assertGrammar(run.events, { end: run.error === undefined ? 'complete' : 'broken' });
        if (run.error !== undefined && abort.signal.aborted) {
          expect(starts()).toBe(startsAtAbort);
          expect(run.endedAfterAbortMs).toBeLessThan(100);
        }
        for (const { messages } of model.requests) expect(pairingFault(messages.map(toWire))).toBeUndefined();
        expect(model.requests.length).toBeLessThanOrEqual((maxTurns + refusals + 8) * 3);
        seen.complete += run.error === undefined ? 1 : 0;
        seen.broken += run.error === undefined ? 0 : 1;
        seen.tools += only(run.events, 'tool_call_end').length;
        seen.failed += only(run.events, 'run_end').filter((end) => end.reason === 'provider_error').length;
      }),
      { numRuns },
    );
    // The scenarios must reach what they are for.
    expect(Object.values(seen).every((count) => count > 0)).toBe(true);
  });
});
