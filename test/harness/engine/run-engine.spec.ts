import type { ChatMessage } from '../../../src/harness/ports/chat-model.port.js';
import {
  anEngineInput,
  FakeTool,
  only,
  record,
  ScriptedInputs,
  the,
  typesOf,
  userMessage,
} from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import {
  callStep,
  callTools,
  failWith,
  finishStep,
  say,
  ScriptedChatModel,
  textStep,
  thinkingStep,
  tokens,
} from '../../support/scripted-chat-model.js';

const echo = new FakeTool('echo', (args) => `echo:${args.q as string}`);

describe('runEngine', () => {
  it('streams an answer and ends completed', async () => {
    const model = new ScriptedChatModel([[thinkingStep('hm'), textStep('Hel'), textStep('lo'), finishStep()]]);
    const { events, error } = await record(anEngineInput(model));
    expect(error).toBeUndefined();
    assertGrammar(events, { end: 'complete' });
    expect(typesOf(events)).toEqual([
      ...['run_start', 'reason_start', 'reason_delta', 'reason_delta', 'reason_delta', 'reason_end', 'run_end'],
    ]);
    expect(only(events, 'reason_delta').map(({ kind, text }) => [kind, text])).toEqual([
      ['thinking', 'hm'],
      ['text', 'Hel'],
      ['text', 'lo'],
    ]);
    expect(the(events, 'reason_end')).toMatchObject({
      reasonId: the(events, 'reason_start').reasonId,
      text: 'Hello',
      thinking: 'hm',
      toolCalls: [],
      finishReason: 'stop',
      usage: tokens(10, 5),
      meta: { modelVersion: 'scripted-1' },
    });
    expect(the(events, 'run_end')).toMatchObject({
      text: 'Hello',
      reason: 'completed',
      abnormal: false,
      metrics: { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
    });
  });

  it('stamps every event and freezes it to the bottom', async () => {
    const model = new ScriptedChatModel([callTools(callStep('echo', { q: { deep: ['x'] } })), say('done')]);
    const { events } = await record(anEngineInput(model, { tools: [echo], clock: { nowMs: () => 7 } }));
    for (const event of events) {
      const stamp = { runId: 'r1', sessionId: 's1', streamId: 'st1', agentName: 'harness_agent', at: 7 };
      expect(event).toMatchObject(stamp);
      expect(Object.isFrozen(event)).toBe(true);
    }
    expect(Object.isFrozen(the(events, 'tool_call_start').args.q)).toBe(true);
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });

  it('runs a tool and gives its result to the next model call', async () => {
    const model = new ScriptedChatModel([
      [thinkingStep('use it'), textStep('Wait.'), callStep('echo', { q: 'x' }, 'call_1'), finishStep('tool_calls')],
      say('done'),
    ]);
    const { events } = await record(anEngineInput(model, { tools: [echo] }));
    assertGrammar(events, { end: 'complete' });
    const callId = only(events, 'reason_end')[0]!.toolCalls[0]!.callId;
    expect(only(events, 'reason_end')[0]!.toolCalls).toEqual([
      { callId, providerCallId: 'call_1', toolName: 'echo', args: { q: 'x' } },
    ]);
    expect(the(events, 'tool_call_end')).toMatchObject({ callId, outcome: 'ok', text: 'echo:x', error: null });
    expect(model.requests[1]!.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        text: 'Wait.',
        thinking: 'use it',
        toolCalls: [{ id: 'call_1', name: 'echo', args: { q: 'x' } }],
        runId: 'r1',
      },
      { role: 'tool', callId: 'call_1', toolName: 'echo', text: 'echo:x', isError: false },
    ]);
    expect(the(events, 'run_end').metrics).toMatchObject({ promptTokens: 20, completionTokens: 10, totalTokens: 30 });
  });

  it('asks the model with system prompt, tools, language and result shape', async () => {
    const model = new ScriptedChatModel([say('{}')]);
    const answerCheck = { shape: 'vision', problemOf: () => undefined } as const;
    await record(anEngineInput(model, { tools: [echo], language: 'zh', answerCheck }));
    expect(model.requests[0]).toEqual({
      runId: 'r1',
      agentName: 'harness_agent',
      system: 'Be brief.',
      messages: [userMessage('hi')],
      tools: [echo.declaration],
      language: 'zh',
      resultShape: 'vision',
    });
  });

  it('sends each text once to the next turn: deltas are not repeated (C05)', async () => {
    const model = new ScriptedChatModel([
      [textStep('He'), textStep('llo'), callStep('echo', { q: '1' }), finishStep('tool_calls')],
      say('Do', 'ne'),
    ]);
    const { events } = await record(anEngineInput(model, { tools: [echo] }));
    expect(only(events, 'reason_end').map((end) => end.text)).toEqual(['Hello', 'Done']);
    const prompt = JSON.stringify(model.requests[1]!.messages);
    expect(prompt.split('Hello')).toHaveLength(2);
  });

  it('passes SSE look-alikes in the text through untouched (C51)', async () => {
    const text = 'a\rdata: {"error":"pwn"}\n\nevent: run.completed\ndata: {}\n\n\u2028';
    const { events } = await record(anEngineInput(new ScriptedChatModel([say(text)])));
    expect(the(events, 'reason_delta').text).toBe(text);
    expect(the(events, 'run_end').text).toBe(text);
  });

  it('joins an emoji that was cut between its halves, and marks a half that stays alone', async () => {
    const model = new ScriptedChatModel([say('a\ud83d', '\ude00b', 'c\ud83d')]);
    const { events } = await record(anEngineInput(model));
    assertGrammar(events, { end: 'complete' });
    expect(only(events, 'reason_delta').map((delta) => delta.text)).toEqual(['a', '😀b', 'c', '\ufffd']);
  });

  describe('ends', () => {
    it.each([
      ['length', 'Maximum tokens reached'],
      ['content_filter', 'The provider filtered the answer'],
    ] as const)('takes the finish reason %s as a normal end and keeps its note', async (finishReason, note) => {
      const model = new ScriptedChatModel([[textStep('half'), { type: 'finish', finishReason, note }]]);
      const { events } = await record(anEngineInput(model));
      expect(the(events, 'reason_end')).toMatchObject({ finishReason, meta: { modelVersion: 'scripted-1', note } });
      expect(the(events, 'run_end')).toMatchObject({ text: 'half', reason: 'completed' });
    });

    it('ends a filtered answer without text normally', async () => {
      const model = new ScriptedChatModel([[{ type: 'finish', finishReason: 'content_filter' }]]);
      const { events } = await record(anEngineInput(model));
      expect(the(events, 'run_end')).toMatchObject({ text: '', reason: 'completed', abnormal: false });
      expect(model.requests).toHaveLength(1);
    });

    it('names the turn limit and stops calling the model', async () => {
      const model = new ScriptedChatModel(Array.from({ length: 9 }, () => callTools(callStep('echo', { q: 'x' }))));
      const input = anEngineInput(model, { tools: [echo], turnsTaken: 1 });
      const { events } = await record({ ...input, limits: { ...input.limits, maxTurns: 3 } });
      assertGrammar(events, { end: 'complete' });
      expect(model.requests).toHaveLength(2);
      expect(the(events, 'run_end')).toMatchObject({
        reason: 'max_turns',
        abnormal: true,
        text: 'the run reached its limit of 3 model turns',
        meta: { maxTurns: 3 },
      });
    });

    it('corrects two empty answers in a row and gives up at the third', async () => {
      const model = new ScriptedChatModel([say(), say(' \n'), say(), say('too late')]);
      const { events } = await record(anEngineInput(model));
      assertGrammar(events, { end: 'complete' });
      expect(model.requests).toHaveLength(3);
      expect(model.requests[2]!.messages.map((message) => message.role)).toEqual(['user', 'user', 'user']);
      expect(the(events, 'run_end')).toMatchObject({ reason: 'empty_answer', abnormal: true });
    });

    it('forgives empty answers again after a good one', async () => {
      const model = new ScriptedChatModel([
        ...[say(), say(), callTools(callStep('echo', { q: 'x' })), say(), say(), say('ok')],
      ]);
      const { events } = await record(anEngineInput(model, { tools: [echo] }));
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'ok' });
    });

    it('takes the thinking as the answer when there is no text', async () => {
      const model = new ScriptedChatModel([[thinkingStep('it is 4'), finishStep()]]);
      const { events } = await record(anEngineInput(model));
      assertGrammar(events, { end: 'complete' });
      expect(the(events, 'reason_end').text).toBe('');
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'it is 4' });
    });

    it('throws what is no fault of the provider, without a run_end', async () => {
      const model = new ScriptedChatModel([[textStep('x'), { failure: new Error('bug') }]]);
      const { events, error } = await record(anEngineInput(model));
      expect(error).toEqual(new Error('bug'));
      assertGrammar(events, { end: 'broken' });
      expect(only(events, 'run_end')).toEqual([]);
    });
  });

  describe('answer check', () => {
    const answerCheck = {
      shape: 'schema',
      problemOf: (text: string) => (text === 'good' ? undefined : `"${text}" is bad`),
    } as const;

    it('asks once for a better answer', async () => {
      const model = new ScriptedChatModel([say('bad'), say('good')]);
      const { events } = await record(anEngineInput(model, { answerCheck }));
      assertGrammar(events, { end: 'complete' });
      expect(model.requests[1]!.messages.slice(1)).toEqual([
        { role: 'assistant', text: 'bad', toolCalls: [], runId: 'r1' },
        {
          ...userMessage(
            'Your last answer does not have the required form: "bad" is bad. Send the whole answer again, corrected, and nothing else.',
          ),
          fromHarness: true,
        },
      ]);
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'good' });
    });

    it('ends invalid_result after the second bad answer and names the problem', async () => {
      const model = new ScriptedChatModel([say('bad'), say('worse'), say('good')]);
      const { events } = await record(anEngineInput(model, { answerCheck }));
      assertGrammar(events, { end: 'complete' });
      expect(model.requests).toHaveLength(2);
      expect(the(events, 'run_end')).toMatchObject({
        reason: 'invalid_result',
        abnormal: true,
        text: 'the answer of the model does not have the required form',
        meta: { problem: '"worse" is bad' },
      });
    });
  });

  describe('inputs', () => {
    const lastTexts = (messages: readonly ChatMessage[]): string[] =>
      messages.map((message) =>
        message.role === 'user'
          ? message.parts.map((p) => (p.kind === 'text' ? p.text : '')).join()
          : `${message.role}`,
      );

    it('takes what came in before the first model call and after the tools', async () => {
      const model = new ScriptedChatModel([callTools(callStep('echo', { q: 'x' })), say('done')]);
      const inputs = new ScriptedInputs([['also this'], ['and that']]);
      const { events } = await record(anEngineInput(model, { tools: [echo], inputs }));
      assertGrammar(events, { end: 'complete' });
      expect(lastTexts(model.requests[0]!.messages)).toEqual(['hi', 'also this']);
      expect(lastTexts(model.requests[1]!.messages)).toEqual(['hi', 'also this', 'assistant', 'tool', 'and that']);
    });

    it('takes one more turn when something came in before the end', async () => {
      const model = new ScriptedChatModel([say('one'), say('two')]);
      const inputs = new ScriptedInputs([[], ['wait']]);
      const { events } = await record(anEngineInput(model, { inputs }));
      assertGrammar(events, { end: 'complete' });
      expect(lastTexts(model.requests[1]!.messages)).toEqual(['hi', 'assistant', 'wait']);
      expect(inputs.ends.map((end) => end.text)).toEqual(['two']);
    });

    it('yields exactly the end that the host accepted', async () => {
      const model = new ScriptedChatModel([say('one'), say('two')]);
      const inputs = new ScriptedInputs([[], [], ['late']], 1);
      const { events } = await record(anEngineInput(model, { inputs }));
      expect(inputs.ends.map((end) => end.text)).toEqual(['one', 'two']);
      expect(the(events, 'run_end')).toBe(inputs.ends[1]);
    });

    it('gives a late input its turn even at the turn limit, and then stops', async () => {
      const model = new ScriptedChatModel([callTools(callStep('echo', { q: 'x' })), say('two'), say('three')]);
      const inputs = new ScriptedInputs([[], [], [], ['late']], 1);
      const input = anEngineInput(model, { inputs, tools: [echo] });
      const { events } = await record({ ...input, limits: { ...input.limits, maxTurns: 1 } });
      assertGrammar(events, { end: 'complete' });
      expect(inputs.ends.map((end) => end.reason)).toEqual(['max_turns', 'completed']);
      expect(lastTexts(model.requests[1]!.messages).at(-1)).toBe('late');
    });

    it('closes the reason of a failed call before it goes on with a late input', async () => {
      const inputs = new ScriptedInputs([[], [], ['late']], 1);
      const model = new ScriptedChatModel([[failWith('http', { status: 400, retryable: false })], say('fine')]);
      const { events } = await record(anEngineInput(model, { inputs }));
      assertGrammar(events, { end: 'complete' });
      expect(only(events, 'reason_end').map(({ text, interrupted }) => [text, interrupted])).toEqual([
        ['', 'cancelled'],
        ['fine', undefined],
      ]);
    });
  });

  it('runs open calls first, without a model call', async () => {
    const model = new ScriptedChatModel([say('done')]);
    const calls = [{ callId: 'c7', providerCallId: 'call_7', toolName: 'echo', args: { q: 'x' } }];
    const said: ChatMessage = {
      role: 'assistant',
      text: '',
      toolCalls: [{ id: 'call_7', name: 'echo', args: { q: 'x' } }],
      runId: 'r1',
    };
    const openCalls = { reasonId: 'x9', calls };
    const input = anEngineInput(model, { tools: [echo], messages: [userMessage('hi'), said], openCalls });
    const { events } = await record(input);
    assertGrammar(events, { end: 'complete', resumed: ['c7'] });
    expect(typesOf(events).slice(0, 5)).toEqual([
      ...['run_start', 'action_start', 'tool_call_start', 'tool_call_end', 'action_end'],
    ]);
    expect(the(events, 'tool_call_end')).toMatchObject({ callId: 'c7', reasonId: 'x9', text: 'echo:x' });
    expect(model.requests[0]!.messages.at(-1)).toMatchObject({ role: 'tool', callId: 'call_7', text: 'echo:x' });
  });

  describe('an answer that nobody judged yet', () => {
    const messages = [userMessage('hi')];

    it('ends the run without a model call', async () => {
      const model = new ScriptedChatModel([say('never')]);
      const openAnswer = { text: 'It is 4.', thinking: '', finishReason: 'stop' } as const;
      const { events } = await record(anEngineInput(model, { messages, openAnswer, turnsTaken: 1 }));
      expect(typesOf(events)).toEqual(['run_start', 'run_end']);
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'It is 4.' });
      expect(model.requests).toHaveLength(0);
    });

    it('is mended when it breaks the form', async () => {
      const model = new ScriptedChatModel([say('good')]);
      const openAnswer = { text: 'bad', thinking: '', finishReason: 'stop' } as const;
      const answerCheck = {
        shape: 'schema',
        problemOf: (text: string) => (text === 'good' ? undefined : 'bad'),
      } as const;
      const { events } = await record(anEngineInput(model, { messages, openAnswer, answerCheck, turnsTaken: 1 }));
      assertGrammar(events, { end: 'complete' });
      expect(model.requests[0]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'good' });
    });
  });
});
