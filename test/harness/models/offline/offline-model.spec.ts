import { readFileSync } from 'node:fs';
import { OfflineModel } from '../../../../src/harness/models/offline/offline-model.js';
import { TextReader, type TextReading } from '../../../../src/harness/models/offline/text-reader.port.js';
import type { ChatMessage, ChatPart, ChatRequest } from '../../../../src/harness/ports/chat-model.port.js';
import { bands, picturePart } from './picture-part.js';

const open = new AbortController().signal;
const receipt = readFileSync('config/samples/receipt.png');

/** Reads what it was told to; `hang` reads for ever. */
class FakeReader extends TextReader {
  closed = false;
  constructor(private readonly reading: TextReading | 'hang' = { outcome: 'none' }) {
    super();
  }
  read(_bytes: Uint8Array, signal: AbortSignal): Promise<TextReading> {
    if (this.reading !== 'hang') return Promise.resolve(this.reading);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

const read = (...lines: string[]): TextReading => ({ outcome: 'read', lines, confidence: 0.95 });
const user = (text: string, ...pictures: ChatPart[]): ChatMessage => ({
  role: 'user',
  parts: [{ kind: 'text', text }, ...pictures],
});
const requestOf = (messages: ChatMessage[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  runId: 'r1',
  agentName: 'vision_agent',
  system: 'Look closely.',
  messages,
  tools: [],
  language: 'en',
  ...more,
});

async function answerOf(request: ChatRequest, reading?: TextReading): Promise<string> {
  let text = '';
  for await (const event of new OfflineModel(new FakeReader(reading)).stream(request, open))
    if (event.type === 'text') text += event.text;
  return text;
}
const resultOf = async (request: ChatRequest, reading?: TextReading): Promise<unknown> =>
  JSON.parse(await answerOf({ ...request, resultShape: 'vision' }, reading));

describe('OfflineModel', () => {
  it('measures a picture, and says first that it measures', async () => {
    const request = requestOf([user('What is this?', await picturePart(receipt))]);
    expect(await answerOf(request, read('CORNER CAFE', 'TOTAL EUR 16.70'))).toBe(
      `Measured, not guessed: no language model is configured, so this says only what can be measured.

Picture 0: PNG, 600 × 860 pixels (portrait, about 2:3, 22.0 KiB), upright
- Colours: 61% white (#fffdf7), 21% amber (#efc463), 14% teal (#0f6b6b), 2% charcoal (#2c2c34)
- Light: bright (83%), medium contrast; sharp (5.5); no transparency
- Text (OCR, confidence 95%):
    CORNER CAFE
    TOTAL EUR 16.70

For answers from a model, set OPENAI_API_KEY, ARK_API_KEY, DEEPSEEK_API_KEY or DASHSCOPE_API_KEY and start again.`,
    );
  });

  it('answers in Chinese', async () => {
    const request = requestOf([user('分析图片', await picturePart(receipt))], { language: 'zh' });
    const answer = await answerOf(request, read('发票金额：128.50元'));
    expect(answer).toMatch(/^以下均为实测，不含猜测/);
    expect(answer).toContain('图片 0：PNG，600 × 860 像素（竖版，约 2:3，22.0 KiB），方向已摆正');
    expect(answer).toContain('琥珀色 21%（#efc463）');
    expect(answer).toContain('- 文字（OCR，置信度 95%）：\n    发票金额：128.50元');
  });

  it('tells, without a picture, how to configure a model and what one would have got', async () => {
    const tools = [{ name: 'now', description: '', parameters: {} }];
    const answer = await answerOf(
      requestOf([user('Hello'), { role: 'assistant', text: 'Hi', toolCalls: [] }, user('You?')], { tools }),
    );
    expect(answer).toMatch(/^No language model is configured/);
    expect(answer).toContain(
      '- System prompt: 13 characters\n- History with your message: 3 messages, 11 characters\n- Tools: now\n- Pictures: none',
    );
    for (const name of [
      'OPENAI_API_KEY',
      'ARK_API_KEY',
      'DEEPSEEK_API_KEY',
      'DASHSCOPE_API_KEY',
      'BRIDLE_MODEL_BASE_URL',
    ])
      expect(answer).toMatch(new RegExp(`^- .*${name}=`, 'm'));
  });

  it('streams by word and spends no tokens', async () => {
    const events = [];
    for await (const event of new OfflineModel(new FakeReader()).stream(requestOf([user('Hello')]), open))
      events.push(event);
    expect(events.slice(0, 2)).toEqual([
      { type: 'text', text: 'No ' },
      { type: 'text', text: 'language ' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop', usage: { totalTokens: 0 } });
  });

  it.each([
    [{ outcome: 'none' }, '- Text: none found'],
    [{ outcome: 'too_slow', limitMs: 10_000 }, '- Text: not read, it took longer than 10 s'],
    [{ outcome: 'failed' }, '- Text: not read, the OCR engine failed'],
    [{ outcome: 'not_installed', packages: ['tesseract.js'] }, 'optional packages are not installed: tesseract.js'],
  ] as const)('says why there is no text: %j', async (reading, sentence) => {
    expect(await answerOf(requestOf([user('', await picturePart(receipt))]), reading)).toContain(sentence);
  });

  it('gives a vision run its four keys', async () => {
    const request = requestOf([user('What is this?', await picturePart(receipt))]);
    expect(await resultOf(request, read('CORNER CAFE', '"quoted" \\ text'))).toEqual({
      reply: await answerOf(request, read('CORNER CAFE', '"quoted" \\ text')),
      intent: 'reply',
      suggestedTitle: 'CORNER CAFE',
      generationItems: [],
    });
  });

  it('makes a prompt of a request to edit, pointing to the pictures of the run', async () => {
    const pictures = [await picturePart(receipt, 0), await picturePart(await bands(['#194bd7', 200]), 1)];
    expect(await resultOf(requestOf([user('Remove the barcode', ...pictures)]), read('CORNER CAFE'))).toMatchObject({
      intent: 'edit',
      generationItems: [
        {
          prompt:
            'Edit picture 0 (PNG, 600 × 860 pixels; mainly white, amber, teal; it reads “CORNER CAFE”) and picture 1 (PNG, 200 × 100 pixels; mainly blue; it reads “CORNER CAFE”). Request: Remove the barcode. Keep everything else as it is.',
          aspectRatio: '2:3',
          referenceImageIndexes: [0, 1],
        },
      ],
    });
  });

  it('takes the ratio that a request to generate names', async () => {
    expect(await resultOf(requestOf([user('Draw a picture of a cup, 16:9')]))).toMatchObject({
      intent: 'generate',
      suggestedTitle: 'Draw a picture of a cup, 16:9',
      generationItems: [{ prompt: 'Draw a picture of a cup, 16:9', aspectRatio: '16:9', referenceImageIndexes: [] }],
    });
  });

  it('asks for the style that a request does not name', async () => {
    const request = requestOf([user('去掉条形码，换个封面风格', await picturePart(receipt))], { language: 'zh' });
    const result = await resultOf(request);
    expect(result).toMatchObject({ intent: 'clarify', suggestedTitle: 'PNG 600 × 860', generationItems: [] });
    expect((result as { reply: string }).reply).toContain('您希望换成哪种风格？');
  });

  it('looks at the newest pictures of the history when a message brings none, and points to none of them', async () => {
    const earlier = user('first', await picturePart(await bands(['#194bd7', 200])));
    const said: ChatMessage = { role: 'assistant', text: 'x', toolCalls: [], runId: 'r0' };
    const result = await resultOf(requestOf([earlier, said, user('Make it brighter')]));
    expect(result).toMatchObject({
      intent: 'edit',
      generationItems: [{ aspectRatio: '16:9', referenceImageIndexes: [] }],
    });
    expect((result as { reply: string }).reply).toContain('200 × 100 pixels');
  });

  it('keeps the pictures of its run when new text arrives meanwhile', async () => {
    const first = user('Look', await picturePart(receipt));
    const said: ChatMessage = { role: 'assistant', text: 'x', toolCalls: [], runId: 'r1' };
    expect(await resultOf(requestOf([first, said, user('Remove the barcode')]))).toMatchObject({
      intent: 'edit',
      generationItems: [{ referenceImageIndexes: [0] }],
    });
  });

  it('invents nothing for a schema', async () => {
    const answer = await answerOf(requestOf([user('x', await picturePart(receipt))], { resultShape: 'schema' }));
    expect(answer).toMatch(/^Measured, not guessed/);
  });

  it('says what it measured before the text is read, and stops at once with the signal', async () => {
    const abort = new AbortController();
    const stream = new OfflineModel(new FakeReader('hang')).stream(
      requestOf([user('', await picturePart(receipt))]),
      abort.signal,
    );
    let text = '';
    const reading = (async () => {
      for await (const event of stream) {
        if (event.type === 'text') text += event.text;
        if (text.includes('no transparency')) setTimeout(() => abort.abort(new Error('cancelled')), 5);
      }
    })();
    await expect(reading).rejects.toThrow('cancelled');
    expect(text).toContain('61% white');
  });

  it('ends its reader', async () => {
    const reader = new FakeReader();
    await new OfflineModel(reader).close();
    expect(reader.closed).toBe(true);
  });
});
