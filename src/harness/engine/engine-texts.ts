import type { ProviderError, ProviderFault } from '../ports/chat-model.port.js';

/** The fixed sentences of the engine in one language: ends for people, corrections for the model. */
export interface EngineTexts {
  maxTurns(limit: number): string;
  readonly emptyAnswer: string;
  /** The user message that follows an empty answer. */
  readonly askAgain: string;
  /** The user message that follows an answer of the wrong form. */
  askToMend(problem: string): string;
  readonly invalidResult: string;
  readonly modelLacksVision: string;
  providerFailed(error: ProviderError): string;
}

type FaultTexts = Record<Exclude<ProviderFault, 'http' | 'other'>, string>;

const ENGLISH_FAULTS: FaultTexts = {
  connection: 'the model could not be reached',
  timeout: 'the model did not answer in time',
  cut: "the model's answer was cut off",
  overflow: 'the conversation is too long for the model',
  no_pictures: 'the model in use cannot read pictures',
  bad_frame: 'the model sent an unreadable answer',
};

const CHINESE_FAULTS: FaultTexts = {
  connection: '无法连接模型服务',
  timeout: '模型未能及时作答',
  cut: '模型的回答被中断',
  overflow: '对话内容超出了模型的长度上限',
  no_pictures: '当前模型无法读取图片',
  bad_frame: '模型返回了无法识别的内容',
};

const ENGLISH: EngineTexts = {
  maxTurns: (limit) => `the run reached its limit of ${limit} model turns`,
  emptyAnswer: 'the model gave no answer',
  askAgain: 'Your last answer was empty. Please answer the request, or call a tool.',
  askToMend: (problem) =>
    `Your last answer does not have the required form: ${problem}. Send the whole answer again, corrected, and nothing else.`,
  invalidResult: 'the answer of the model does not have the required form',
  modelLacksVision: ENGLISH_FAULTS.no_pictures,
  providerFailed: ({ fault, options, message }) => {
    if (fault === 'http') return options.status === undefined ? message : `the model answered ${options.status}`;
    return fault === 'other' ? message : ENGLISH_FAULTS[fault];
  },
};

const CHINESE: EngineTexts = {
  maxTurns: (limit) => `本次运行已达到 ${limit} 轮模型调用的上限`,
  emptyAnswer: '模型没有给出回答',
  askAgain: '你上一次的回答是空的。请回答用户的请求，或调用工具。',
  askToMend: (problem) => `你上一次的回答不符合要求的格式：${problem}。请改正后重新发送完整的回答，不要写其他内容。`,
  invalidResult: '模型的回答不符合要求的格式',
  modelLacksVision: CHINESE_FAULTS.no_pictures,
  providerFailed: ({ fault, options, message }) => {
    if (fault === 'http') return options.status === undefined ? message : `模型服务返回 ${options.status}`;
    return fault === 'other' ? message : CHINESE_FAULTS[fault];
  },
};

/** The sentences in the language of a run. */
export function engineTexts(language: 'zh' | 'en'): EngineTexts {
  return language === 'zh' ? CHINESE : ENGLISH;
}
