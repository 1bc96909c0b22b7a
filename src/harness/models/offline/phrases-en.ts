import { nearestRatio } from './aspect-ratio.js';
import { formatOf, linesOf, type Finding } from './findings.js';
import { asSentence, grade, kilobytes, percent, type Phrases } from './phrases.js';

const shapeOf = (width: number, height: number): string =>
  width === height ? 'square' : `${width > height ? 'landscape' : 'portrait'}, about ${nearestRatio(width, height)}`;

function inShort({ part, facts, ...finding }: Finding): string {
  const colours = facts.colours.slice(0, 3).map(({ name }) => name.en);
  const [title] = linesOf({ part, facts, ...finding });
  const size = `${formatOf(part)}, ${part.width} × ${part.height} pixels`;
  const main = colours.length > 0 ? `; mainly ${colours.join(', ')}` : '';
  return `picture ${part.index} (${size}${main}${title === undefined ? '' : `; it reads “${title}”`})`;
}

export const ENGLISH: Phrases = {
  measured: 'Measured, not guessed: no language model is configured, so this says only what can be measured.',
  noModel: 'No language model is configured, so nothing here is guessed.',
  notMeasured: '- Not measured: the picture could not be decoded, or the package sharp is not installed.',

  picture(part, bytes) {
    const size = bytes === undefined ? '' : `, ${kilobytes(bytes)}`;
    const shape = shapeOf(part.width, part.height);
    return `Picture ${part.index}: ${formatOf(part)}, ${part.width} × ${part.height} pixels (${shape}${size}), upright`;
  },

  colours: (colours) =>
    colours.length === 0
      ? '- Colours: none, it is transparent'
      : `- Colours: ${colours.map(({ share, name, hex }) => `${percent(share)} ${name.en} (${hex})`).join(', ')}`,

  light({ brightness, contrast, sharpness, transparency }) {
    const light = grade(brightness, [
      [0.3, 'dark'],
      [0.65, 'medium'],
      [Infinity, 'bright'],
    ]);
    const spread = grade(contrast, [
      [0.08, 'very low'],
      [0.18, 'low'],
      [0.28, 'medium'],
      [Infinity, 'high'],
    ]);
    const edges = grade(sharpness, [
      [1, 'blurred'],
      [3, 'soft'],
      [Infinity, 'sharp'],
    ]);
    const see = transparency === 0 ? 'no transparency' : `${percent(transparency)} of it transparent`;
    return `- Light: ${light} (${percent(brightness)}), ${spread} contrast; ${edges} (${sharpness.toFixed(1)}); ${see}`;
  },

  text(reading) {
    switch (reading.outcome) {
      case 'read':
        return `- Text (OCR, confidence ${percent(reading.confidence)}):\n${reading.lines.map((line) => `    ${line}`).join('\n')}`;
      case 'none':
        return '- Text: none found';
      case 'too_slow':
        return `- Text: not read, it took longer than ${Math.round(reading.limitMs / 1000)} s`;
      case 'failed':
        return '- Text: not read, the OCR engine failed';
      case 'not_installed':
        return `- Text: not read, these optional packages are not installed: ${reading.packages.join(', ')}`;
    }
  },

  wouldSend: ({ systemCharacters, messages, characters, tools }) =>
    [
      'This is what a model would have got:',
      `- System prompt: ${systemCharacters} characters`,
      `- History with your message: ${messages} ${messages === 1 ? 'message' : 'messages'}, ${characters} characters`,
      `- Tools: ${tools.length === 0 ? 'none' : tools.join(', ')}`,
      '- Pictures: none',
    ].join('\n'),

  setUp: [
    'To use a model, set one of these and start again:',
    '- OpenAI: OPENAI_API_KEY=…',
    '- Volcengine Ark: ARK_API_KEY=…',
    '- DeepSeek: DEEPSEEK_API_KEY=…',
    '- Qwen: DASHSCOPE_API_KEY=…',
    '- vLLM, Ollama, LiteLLM and others: BRIDLE_MODEL_PROVIDER=openai-compatible BRIDLE_MODEL_BASE_URL=http://127.0.0.1:11434/v1 BRIDLE_MODEL_NAME=…',
  ].join('\n'),
  setUpBriefly:
    'For answers from a model, set OPENAI_API_KEY, ARK_API_KEY, DEEPSEEK_API_KEY or DASHSCOPE_API_KEY and start again.',

  askStyle:
    'Which style would you like? For example “High fashion · minimal black and white” or “Retro magazine · 1970s”. Name it in your next message.',
  edit: 'Your request is ready as a prompt for an image model; nothing was changed in the picture.',
  generate: 'Your request is ready as a prompt for an image model; nothing was drawn.',
  untitled: 'No model configured',

  editPrompt: (request, findings) =>
    `Edit ${findings.map(inShort).join(' and ')}. Request: ${asSentence(request, '. ')}Keep everything else as it is.`,
  generatePrompt: (request, findings) =>
    findings.length === 0
      ? request.trim()
      : `${asSentence(request, '. ')}Reference: ${findings.map(inShort).join(' and ')}.`,
};
