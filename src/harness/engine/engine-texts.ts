import type { PendingQuestion, PendingTask } from '../../events/values.js';
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
  /** The end of a request that waits for a human. */
  waits(tasks: readonly PendingTask[], questions: readonly PendingQuestion[]): string;
  /** What the model reads in place of the result of a call that a rule forbids. */
  denied(toolName: string, reason: string): string;
  /** The same for a call that a human rejected or left out without a word. */
  rejected(toolName: string): string;
  skipped(toolName: string): string;
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
  waits: (tasks, questions) => {
    if (tasks.length === 0)
      return questions.length === 1 ? questions[0]!.question : `${questions.length} questions wait`;
    const only = tasks.length === 1 ? tasks[0] : undefined;
    if (only !== undefined) return only.comment ?? `the call of ${only.toolName} waits for approval`;
    return `${tasks.length} tool calls wait for approval`;
  },
  denied: (toolName, reason) => `Not run: the call of ${toolName} is not permitted: ${reason}.`,
  rejected: (toolName) => `the call of ${toolName} was rejected`,
  skipped: (toolName) => `the call of ${toolName} was skipped`,
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
  waits: (tasks, questions) => {
    if (tasks.length === 0)
      return questions.length === 1 ? questions[0]!.question : `有 ${questions.length} 个问题等待回答`;
    const only = tasks.length === 1 ? tasks[0] : undefined;
    if (only !== undefined) return only.comment ?? `工具 ${only.toolName} 的调用等待批准`;
    return `有 ${tasks.length} 个工具调用等待批准`;
  },
  denied: (toolName, reason) => `未执行：不允许调用 ${toolName}：${reason}。`,
  rejected: (toolName) => `工具 ${toolName} 的调用被拒绝`,
  skipped: (toolName) => `工具 ${toolName} 的调用被跳过`,
};

/** The sentences in the language of a run. */
export function engineTexts(language: 'zh' | 'en'): EngineTexts {
  return language === 'zh' ? CHINESE : ENGLISH;
}
