import type { ChatMessage } from '../ports/chat-model.port.js';

/** What a model that reads no pictures finds in place of an earlier one. */
const LEFT_OUT = '(a picture that this model cannot read)';

/** The place of a run's first message: behind the last answer of another run. */
export function beginOfRun(messages: readonly ChatMessage[], runId: string): number {
  return messages.findLastIndex((message) => message.role === 'assistant' && message.runId !== runId) + 1;
}

/** Whether a message brings a picture. */
export function hasPicture(message: ChatMessage): boolean {
  return message.role === 'user' && message.parts.some((part) => part.kind === 'image');
}

/** The messages with a note in place of each picture that came before this run; those of the run itself stay. */
export function withoutOldPictures(messages: readonly ChatMessage[], runId: string): ChatMessage[] {
  const begin = beginOfRun(messages, runId);
  return messages.map((message, index) => {
    if (index >= begin || message.role !== 'user' || !hasPicture(message)) return message;
    const parts = message.parts.map((part) =>
      part.kind === 'image' ? ({ kind: 'text', text: LEFT_OUT } as const) : part,
    );
    return { ...message, parts };
  });
}
