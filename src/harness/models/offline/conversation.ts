import { beginOfRun } from '../../engine/run-messages.js';
import type { ChatMessage, ChatPart, ChatRequest } from '../../ports/chat-model.port.js';

export type PicturePart = Extract<ChatPart, { kind: 'image' }>;

type UserMessage = Extract<ChatMessage, { role: 'user' }>;

/** What a request is about. */
export interface Conversation {
  /** The user's newest text. */
  readonly text: string;
  /** The pictures of this run; when it brought none, the newest ones of the history. */
  readonly pictures: readonly PicturePart[];
  /** True when the pictures came with this run, so that its result may point to them. */
  readonly areOfThisRun: boolean;
}

const picturesOf = (messages: readonly UserMessage[]): readonly PicturePart[] => {
  const byIndex = new Map<number, PicturePart>();
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.kind === 'image' && !byIndex.has(part.index)) byIndex.set(part.index, part);
  }
  return [...byIndex.values()];
};

const isUser = (message: ChatMessage): message is UserMessage =>
  message.role === 'user' && message.fromHarness !== true;

/** Finds the newest text and the pictures that it is about. */
export function conversationOf(request: ChatRequest): Conversation {
  const ofThisRun = request.messages.slice(beginOfRun(request.messages, request.runId)).filter(isUser);
  const texts = (ofThisRun.at(-1)?.parts ?? []).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const own = picturesOf(ofThisRun);
  if (own.length > 0) return { text: texts.join('\n'), pictures: own, areOfThisRun: true };
  const earlier = request.messages.filter(isUser).findLast((message) => picturesOf([message]).length > 0);
  return { text: texts.join('\n'), pictures: earlier ? picturesOf([earlier]) : [], areOfThisRun: false };
}
