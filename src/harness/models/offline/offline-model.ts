import { ChatModel, type ChatEvent, type ChatMessage, type ChatRequest } from '../../ports/chat-model.port.js';
import { abortable, pause } from '../../../common/abort.js';
import { wordsOf } from '../words.js';
import { conversationOf, type Conversation, type PicturePart } from './conversation.js';
import type { Finding } from './findings.js';
import { intentOf, type Intent } from './intent.js';
import { measurePicture } from './measure-picture.js';
import { CHINESE } from './phrases-zh.js';
import { ENGLISH } from './phrases-en.js';
import type { Phrases } from './phrases.js';
import type { TextReader } from './text-reader.port.js';
import { resultOf } from './vision-answer.js';

const NO_TOKENS = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
};

/** One answer on its way. */
interface Answer {
  readonly request: ChatRequest;
  readonly conversation: Conversation;
  readonly intent: Intent;
  readonly phrases: Phrases;
  readonly signal: AbortSignal;
  readonly findings: Finding[];
}

/**
 * Answers without a language model: measures the pictures of a message and reads their text, and tells what a model
 * would have got. It guesses nothing and says so in its first words.
 */
export class OfflineModel extends ChatModel {
  readonly name = 'offline';
  readonly acceptsPictures = true;

  constructor(private readonly textReader: TextReader) {
    super();
  }

  /** Ends the OCR engine; the next picture starts it again. */
  close(): Promise<void> {
    return this.textReader.close();
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const conversation = conversationOf(request);
    const isVision = request.resultShape === 'vision';
    const answer: Answer = {
      request,
      conversation,
      intent: isVision ? intentOf(conversation.text, conversation.pictures.length > 0) : 'reply',
      phrases: request.language === 'zh' ? CHINESE : ENGLISH,
      signal,
      findings: [],
    };
    for await (const piece of isVision ? this.visionPieces(answer) : this.pieces(answer)) {
      for (const text of wordsOf(piece)) {
        await pause(0, signal);
        yield { type: 'text', text };
      }
    }
    yield { type: 'finish', finishReason: 'stop', usage: NO_TOKENS, modelVersion: this.name };
  }

  /** The four keys of a vision run as JSON text; `reply` comes first, so that it can be written as it is found. */
  private async *visionPieces(answer: Answer): AsyncGenerator<string> {
    yield '{"reply":"';
    for await (const piece of this.pieces(answer)) yield JSON.stringify(piece).slice(1, -1);
    const rest = resultOf(answer.intent, answer.conversation, answer.findings, answer.phrases);
    yield `",${JSON.stringify(rest).slice(1)}`;
  }

  private async *pieces(answer: Answer): AsyncGenerator<string> {
    const { phrases, conversation, intent, request } = answer;
    const hasPictures = conversation.pictures.length > 0;
    yield hasPictures ? phrases.measured : phrases.noModel;
    if (intent === 'clarify') yield `\n${phrases.askStyle}`;
    if (intent === 'edit' || intent === 'generate') yield `\n${phrases[intent]}`;
    for (const part of conversation.pictures) yield* this.picturePieces(part, answer);
    if (!hasPictures) yield `\n\n${phrases.wouldSend(sizeOf(request))}`;
    yield `\n\n${hasPictures ? phrases.setUpBriefly : phrases.setUp}`;
  }

  /** Measured facts first: reading the text takes longest. */
  private async *picturePieces(part: PicturePart, { phrases, signal, findings }: Answer): AsyncGenerator<string> {
    const picture = await abortable(part.load(), signal);
    const bytes = picture.sha256 === part.sha256 ? picture.bytes.length : undefined;
    yield `\n\n${phrases.picture(part, bytes)}`;
    const facts = await abortable(measurePicture(picture), signal).catch(() => undefined);
    signal.throwIfAborted();
    if (facts === undefined) {
      yield `\n${phrases.notMeasured}`;
      return;
    }
    yield `\n${phrases.colours(facts.colours)}\n${phrases.light(facts)}`;
    const reading = await this.textReader.read(picture.bytes, signal);
    findings.push({ part, bytes, facts, reading });
    yield `\n${phrases.text(reading)}`;
  }
}

function sizeOf({ system, messages, tools }: ChatRequest) {
  const characters = messages.reduce((sum, message) => sum + [...textOf(message)].length, 0);
  return {
    systemCharacters: [...system].length,
    messages: messages.length,
    characters,
    tools: tools.map((tool) => tool.name),
  };
}

function textOf(message: ChatMessage): string {
  if (message.role !== 'user') return message.text;
  return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}
