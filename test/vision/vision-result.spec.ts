import { checkVisionResult, type VisionResult } from '../../src/vision/vision-result.js';

const RESULT: VisionResult = {
  reply: '已准备好方案',
  intent: 'edit',
  suggestedTitle: '商品图编辑',
  generationItems: [{ prompt: '完整提示词', aspectRatio: '3:4', referenceImageIndexes: [0] }],
};
const withItem = (item: object): string => JSON.stringify({ ...RESULT, generationItems: [item] });
const problemOf = (text: string, pictures = 1): string | undefined => {
  const checked = checkVisionResult(text, pictures);
  return checked.ok ? undefined : checked.problem;
};

describe('checkVisionResult: a JSON object', () => {
  it.each([
    ['as it is', (json: string) => json],
    ['with white space around it', (json: string) => `\uFEFF\n  ${json}\n`],
    ['in a fence', (json: string) => `\`\`\`json\n${json}\n\`\`\``],
    ['in a fence without a name', (json: string) => `\`\`\`\n${json}\`\`\``],
    ['in a fence within prose', (json: string) => `Here it is:\n\n\`\`\`json\n${json}\n\`\`\`\nAnything else?`],
    ['spread over lines', (json: string) => JSON.stringify(JSON.parse(json), null, 2)],
  ])('is read %s', (_how, wrap) => {
    expect(checkVisionResult(wrap(JSON.stringify(RESULT)), 1)).toEqual({ ok: true, data: RESULT });
  });

  it.each(['reply', 'intent', 'suggestedTitle', 'generationItems'])('needs the key %s', (key) => {
    const { [key as keyof VisionResult]: _left, ...rest } = RESULT;
    expect(problemOf(JSON.stringify(rest))).toContain(key);
  });

  it.each([
    ['another key', JSON.stringify({ ...RESULT, mood: 'good' }), 'mood'],
    ['another intent', JSON.stringify({ ...RESULT, intent: 'chat' }), '/intent'],
    ['a reply that is no text', JSON.stringify({ ...RESULT, reply: null }), '/reply'],
    ['items that are no list', JSON.stringify({ ...RESULT, generationItems: {} }), '/generationItems'],
    ['an item without a prompt', withItem({ aspectRatio: '1:1', referenceImageIndexes: [] }), 'prompt'],
    ['an empty prompt', withItem({ prompt: '', aspectRatio: '1:1', referenceImageIndexes: [] }), '/generationItems/0'],
    ['half an index', withItem({ prompt: 'p', aspectRatio: '1:1', referenceImageIndexes: [0.5] }), 'integer'],
    ['a negative index', withItem({ prompt: 'p', aspectRatio: '1:1', referenceImageIndexes: [-1] }), '>= 0'],
    ['nothing in it', '{}', 'reply'],
    ['no end', '{"reply": "cut o', 'not valid JSON'],
  ])('with %s is a problem', (_what, text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  it('may name pictures of its run only', () => {
    const text = withItem({ prompt: 'p', aspectRatio: '1:1', referenceImageIndexes: [0, 2] });
    expect(problemOf(text, 3)).toBeUndefined();
    expect(problemOf(text, 2)).toBe(
      '/generationItems/0/referenceImageIndexes names picture 2, which does not exist: the pictures are 0 to 1',
    );
    expect(problemOf(withItem({ prompt: 'p', aspectRatio: '1:1', referenceImageIndexes: [0] }), 0)).toContain(
      'has none',
    );
  });

  it('tells a few problems, not all of a hundred', () => {
    const text = JSON.stringify({ ...RESULT, generationItems: Array.from({ length: 100 }, () => 1) });
    expect(problemOf(text)).toMatch(/; .* and 95 more$/);
  });
});

describe('checkVisionResult: plain text', () => {
  it.each([
    ['A red apple on a table.', 'A red apple on a table'],
    ['这是一张红苹果的照片。背景是桌子。', '这是一张红苹果的照片'],
    ['## **Two cats** sleeping on a sofa\n\nThe left one…', 'Two cats** sleeping on a sofa'],
    ['one two three four five six seven eight nine ten eleven', 'one two three four five six seven eight'],
    ['长'.repeat(30), '长'.repeat(20)],
    ['[{"system": "…"}]', '[{"system": "…"}]'],
    ['42', '42'],
    ['{not json, just braces}', '{not json, just braces}'],
    ['', ''],
    ['```json\n{"other": 1}\n```\nis an example.', 'json'],
  ])('%j is the reply', (text, suggestedTitle) => {
    expect(checkVisionResult(text, 0)).toEqual({
      ok: true,
      data: { reply: text, intent: 'reply', suggestedTitle, generationItems: [] },
    });
  });
});
