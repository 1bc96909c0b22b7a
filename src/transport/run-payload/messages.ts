import type { ProgressState } from '../../events/harness-event.js';

type Language = 'zh' | 'en';
type Text = Readonly<Record<Language, string>>;

const ANY_CODE: Record<ProgressState, Text> = {
  pending: { zh: '等待中', en: 'Waiting' },
  active: { zh: '正在处理', en: 'Working' },
  done: { zh: '步骤结束', en: 'Step finished' },
  failed: { zh: '运行失败', en: 'The run failed' },
  skipped: { zh: '已跳过', en: 'Skipped' },
};

/** Texts by code, then by state; `any` stands for the states that have no text of their own. */
const BY_CODE: Readonly<Record<string, Partial<Record<ProgressState | 'any', Text>>>> = {
  RUN_QUEUED: { any: { zh: '已进入队列', en: 'Queued' } },
  PREPARING: {
    any: { zh: '正在准备', en: 'Preparing' },
    done: { zh: '准备完成', en: 'Prepared' },
    failed: { zh: '准备失败', en: 'Preparing failed' },
  },
  FETCHING_RESOURCES: {
    any: { zh: '正在获取图片', en: 'Fetching the pictures' },
    done: { zh: '图片已获取', en: 'Pictures fetched' },
    failed: { zh: '获取图片失败', en: 'Fetching the pictures failed' },
  },
  ANALYZING_IMAGE: {
    any: { zh: '正在分析图片内容', en: 'Looking at the pictures' },
    done: { zh: '图片分析完成', en: 'Pictures looked at' },
    failed: { zh: '图片分析失败', en: 'Looking at the pictures failed' },
  },
  CALLING_MODEL: {
    any: { zh: '模型正在思考', en: 'The model is thinking' },
    done: { zh: '模型步骤结束', en: 'Model step finished' },
    failed: { zh: '模型调用失败', en: 'The model call failed' },
  },
  CALLING_TOOL: {
    any: { zh: '正在使用工具', en: 'Using tools' },
    done: { zh: '工具步骤结束', en: 'Tool step finished' },
    failed: { zh: '工具调用失败', en: 'A tool call failed' },
  },
  MODEL_RETRY: { any: { zh: '正在重试模型', en: 'Trying the model again' } },
  MODEL_FALLBACK: { any: { zh: '正在改用备用模型', en: 'Changing to another model' } },
  LOOP_WARNING: { any: { zh: '检测到重复步骤', en: 'The agent repeats itself' } },
  MCP_PROGRESS: { any: { zh: '外部工具正在运行', en: 'An outside tool is at work' } },
  MCP_SERVER_UNAVAILABLE: { any: { zh: '外部工具服务不可用', en: 'An outside tool server is unavailable' } },
  GENERATING_IMAGE: {
    any: { zh: '正在生成图片', en: 'Making a picture' },
    done: { zh: '图片已生成', en: 'Picture made' },
    failed: { zh: '图片生成失败', en: 'Making a picture failed' },
  },
  FINALIZING: { any: { zh: '正在整理结果', en: 'Preparing the result' } },
  INPUT_REQUIRED: { any: { zh: '等待回答', en: 'Waiting for an answer' } },
  RUN_CANCELLING: { any: { zh: '正在取消', en: 'Cancelling' } },
  RUN_COMPLETED: { any: { zh: '已完成', en: 'Completed' } },
  RUN_CANCELLED: { any: { zh: '已取消', en: 'Cancelled' } },
  QUESTION_EXPIRED: { any: { zh: '问题已过期', en: 'The question expired' } },
  RUN_TTL_EXCEEDED: { any: { zh: '运行已超过期限', en: 'The run took too long' } },
};

/**
 * The human text of an event. It is rendered at each read and never stored; `code` is the machine key.
 * A code without an entry gets the text of its state.
 */
export function messageOf(code: string, state: ProgressState, language: Language): string {
  const texts = BY_CODE[code];
  return (texts?.[state] ?? texts?.any ?? ANY_CODE[state])[language];
}
