import { nearestRatio } from './aspect-ratio.js';
import { formatOf, linesOf, type Finding } from './findings.js';
import { asSentence, grade, kilobytes, percent, type Phrases } from './phrases.js';

const shapeOf = (width: number, height: number): string =>
  width === height ? '正方形' : `${width > height ? '横版' : '竖版'}，约 ${nearestRatio(width, height)}`;

function inShort(finding: Finding): string {
  const { part, facts } = finding;
  const colours = facts.colours.slice(0, 3).map(({ name }) => name.zh);
  const [title] = linesOf(finding);
  const main = colours.length > 0 ? `，主色为${colours.join('、')}` : '';
  const words = title === undefined ? '' : `，含文字“${title}”`;
  return `图片 ${part.index}（${formatOf(part)}，${part.width} × ${part.height} 像素${main}${words}）`;
}

export const CHINESE: Phrases = {
  measured: '以下均为实测，不含猜测：尚未配置语言模型，因此只列出能够测量的内容。',
  noModel: '尚未配置语言模型，因此以下内容不含任何猜测。',
  notMeasured: '- 未能测量：图片无法解码，或未安装 sharp 包。',

  picture(part, bytes) {
    const size = bytes === undefined ? '' : `，${kilobytes(bytes)}`;
    const shape = shapeOf(part.width, part.height);
    return `图片 ${part.index}：${formatOf(part)}，${part.width} × ${part.height} 像素（${shape}${size}），方向已摆正`;
  },

  colours: (colours) =>
    colours.length === 0
      ? '- 颜色：无，图片透明'
      : `- 颜色：${colours.map(({ share, name, hex }) => `${name.zh} ${percent(share)}（${hex}）`).join('，')}`,

  light({ brightness, contrast, sharpness, transparency }) {
    const light = grade(brightness, [
      [0.3, '偏暗'],
      [0.65, '适中'],
      [Infinity, '明亮'],
    ]);
    const spread = grade(contrast, [
      [0.08, '很低'],
      [0.18, '较低'],
      [0.28, '中等'],
      [Infinity, '较高'],
    ]);
    const edges = grade(sharpness, [
      [1, '模糊'],
      [3, '偏软'],
      [Infinity, '清晰'],
    ]);
    const see = transparency === 0 ? '无透明区域' : `透明区域 ${percent(transparency)}`;
    return `- 光线：${light}（亮度 ${percent(brightness)}），对比度${spread}；${edges}（锐度 ${sharpness.toFixed(1)}）；${see}`;
  },

  text(reading) {
    switch (reading.outcome) {
      case 'read':
        return `- 文字（OCR，置信度 ${percent(reading.confidence)}）：\n${reading.lines.map((line) => `    ${line}`).join('\n')}`;
      case 'none':
        return '- 文字：未发现';
      case 'too_slow':
        return `- 文字：未读取，耗时超过 ${Math.round(reading.limitMs / 1000)} 秒`;
      case 'failed':
        return '- 文字：未读取，OCR 引擎出错';
      case 'not_installed':
        return `- 文字：未读取，以下可选包未安装：${reading.packages.join('、')}`;
    }
  },

  wouldSend: ({ systemCharacters, messages, characters, tools }) =>
    [
      '模型本应收到：',
      `- 系统提示词：${systemCharacters} 个字符`,
      `- 历史与本条消息：${messages} 条，共 ${characters} 个字符`,
      `- 工具：${tools.length === 0 ? '无' : tools.join('、')}`,
      '- 图片：无',
    ].join('\n'),

  setUp: [
    '要使用模型，请设置以下任意一项后重新启动：',
    '- OpenAI：OPENAI_API_KEY=…',
    '- 火山方舟：ARK_API_KEY=…',
    '- DeepSeek：DEEPSEEK_API_KEY=…',
    '- 通义千问：DASHSCOPE_API_KEY=…',
    '- vLLM、Ollama、LiteLLM 等：BRIDLE_MODEL_PROVIDER=openai-compatible BRIDLE_MODEL_BASE_URL=http://127.0.0.1:11434/v1 BRIDLE_MODEL_NAME=…',
  ].join('\n'),
  setUpBriefly: '要由模型作答，请设置 OPENAI_API_KEY、ARK_API_KEY、DEEPSEEK_API_KEY 或 DASHSCOPE_API_KEY 后重新启动。',

  askStyle: '您希望换成哪种风格？例如“高级时装 · 极简黑白”或“复古杂志 · 70 年代”。请在下一条消息中说明。',
  edit: '您的要求已整理成图像模型可用的提示词；图片本身未作改动。',
  generate: '您的要求已整理成图像模型可用的提示词；尚未生成图片。',
  untitled: '尚未配置模型',

  editPrompt: (request, findings) =>
    `编辑${findings.map(inShort).join('和')}。要求：${asSentence(request, '。')}其余内容保持不变。`,
  generatePrompt: (request, findings) =>
    findings.length === 0 ? request.trim() : `${asSentence(request, '。')}参考${findings.map(inShort).join('和')}。`,
};
