import type { ChatMessage, ChatPart } from '../../../src/harness/ports/chat-model.port.js';
import { anEngineInput, record, the, typesOf, userMessage } from '../../support/engine-run.js';
import { assertGrammar } from '../../support/grammar.js';
import { failWith, say, ScriptedChatModel, textStep } from '../../support/scripted-chat-model.js';

const picture: ChatPart = {
  kind: 'image',
  index: 0,
  sha256: 'ab',
  mimeType: 'image/png',
  width: 1,
  height: 1,
  load: () => Promise.reject(new Error('must not be loaded')),
};
const withPicture: ChatMessage = { role: 'user', parts: [picture] };
const answer = (runId?: string): ChatMessage => ({
  role: 'assistant',
  text: 'I see.',
  toolCalls: [],
  ...(runId !== undefined && { runId }),
});
const LEFT_OUT = '(a picture that this model cannot read)';
const refusal = () => failWith('no_pictures', { retryable: false, status: 400 });

describe('a model that reads no pictures', () => {
  it.each([
    ['one message', [withPicture]],
    ['a text came after it', [withPicture, userMessage('well?')]],
    ['this run has answered before', [withPicture, answer('r1'), userMessage('go on')]],
  ])('is not asked about a picture of this run: %s', async (_name, messages) => {
    const model = new ScriptedChatModel([say('x')], false);
    const { events } = await record(anEngineInput(model, { messages }));
    assertGrammar(events, { end: 'complete' });
    expect(typesOf(events)).toEqual(['run_start', 'run_end']);
    expect(the(events, 'run_end')).toMatchObject({
      reason: 'provider_error',
      text: 'the model in use cannot read pictures',
      meta: { reason: 'MODEL_LACKS_VISION' },
    });
    expect(model.requests).toHaveLength(0);
  });

  it('is told where an earlier picture was', async () => {
    const model = new ScriptedChatModel([say('hello')], false);
    await record(anEngineInput(model, { messages: [withPicture, answer(), userMessage('hi')] }));
    expect(model.requests[0]!.messages).toEqual([userMessage(LEFT_OUT), answer(), userMessage('hi')]);
  });
});

describe('a provider that refuses pictures', () => {
  it('ends the run that brought one', async () => {
    const model = new ScriptedChatModel([[refusal()], say('never')]);
    const { events } = await record(anEngineInput(model, { messages: [withPicture] }));
    assertGrammar(events, { end: 'complete' });
    expect(the(events, 'run_end')).toMatchObject({
      reason: 'provider_error',
      text: 'the model in use cannot read pictures',
      meta: { reason: 'MODEL_LACKS_VISION', status: 400 },
    });
    expect(model.requests).toHaveLength(1);
  });

  it.each([
    ['at once', [refusal()]],
    ['after some words', [textStep('Well'), refusal()]],
  ])('is asked once more without the pictures of earlier runs: refused %s', async (_name, steps) => {
    const model = new ScriptedChatModel([steps, say('hello'), say('never')]);
    const messages = [withPicture, answer('r0'), userMessage('hi')];
    const { events } = await record(anEngineInput(model, { messages }));
    assertGrammar(events, { end: 'complete' });
    expect(model.requests[1]!.messages).toEqual([userMessage(LEFT_OUT), answer('r0'), userMessage('hi')]);
    expect(the(events, 'run_end')).toMatchObject({ reason: 'completed', text: 'hello' });
  });

  it('ends the run when it refuses a request without pictures too', async () => {
    const model = new ScriptedChatModel([[refusal()], [refusal()], say('never')]);
    const { events } = await record(anEngineInput(model, { messages: [withPicture, answer('r0'), userMessage('hi')] }));
    assertGrammar(events, { end: 'complete' });
    expect(the(events, 'run_end').meta).toMatchObject({ reason: 'MODEL_LACKS_VISION' });
    expect(model.requests).toHaveLength(2);
  });
});
