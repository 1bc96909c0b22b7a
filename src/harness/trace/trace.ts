import type { EventOf } from '../../events/harness-event.js';
import type { LoggedEvent } from '../../events/projection.js';
import type { ImagePart, Part, UserInput } from '../../events/parts.js';
import { callOfTask } from '../../events/task-id.js';
import type { ToolCallRequest } from '../../events/values.js';
import type { ChatMessage, ChatPart, ModelPicture } from '../ports/chat-model.port.js';
import type { ChildTrace, OpenCalls, Trace } from '../ports/trace.js';
import { importedMessages } from './imported-messages.js';
import { pairedMessages } from './paired-messages.js';

/** Reads a stored picture for a model. */
export type PictureLoader = (image: ImagePart) => Promise<ModelPicture>;

/**
 * What an agent has done so far, rebuilt from history rows of its session: user input, whole answers with their tool
 * calls and results, in run order. Every call has exactly one result afterwards, except the open calls of the run
 * itself.
 * @param events rows of the session in order; those of sub-agents tell what the run's open calls had begun
 * @param runId the run that goes on
 */
export function traceOf(events: readonly LoggedEvent[], runId: string, load: PictureLoader): Trace {
  return traceIn(
    events.filter((event) => event.parent === undefined),
    runId,
    events.filter((event) => event.parent !== undefined),
    load,
  );
}

function traceIn(
  events: readonly LoggedEvent[],
  runId: string,
  ofChildren: readonly LoggedEvent[],
  load: PictureLoader,
): Trace {
  const own = events.filter((event) => event.runId === runId);
  const openCalls = openCallsOf(own);
  const unjudged = unjudgedAnswer(own);
  const facts: SessionFacts = { attached: attachedPictures(events), providerIds: providerIds(events), load };
  const messages: ChatMessage[] = [];
  for (const event of events) {
    if (event.type === 'run_queued' && messages.at(-1)?.role === 'user') messages.push(UNANSWERED);
    if (event === unjudged) continue;
    const said = messagesOf(event, facts);
    if (said.length > 0 && isSuperseded(messages.at(-1), event)) messages.pop();
    messages.push(...said);
  }
  const open = new Set(openCalls?.calls.map((call) => call.providerCallId));
  const begun = childrenOf(openCalls?.calls ?? [], ofChildren, load);
  return {
    messages: pairedMessages(messages, open),
    turnsTaken: own.filter((event) => event.type === 'reason_end').length,
    openCalls: openCalls && { ...openCalls, ...(begun.size > 0 && { children: begun }) },
    openAnswer: unjudged && {
      text: unjudged.text,
      thinking: unjudged.thinking ?? '',
      finishReason: unjudged.finishReason,
    },
  };
}

/** The sub-agents that open calls had begun: a task id starts with the id of its call. */
function childrenOf(
  calls: readonly ToolCallRequest[],
  events: readonly LoggedEvent[],
  load: PictureLoader,
): ReadonlyMap<string, readonly ChildTrace[]> {
  const children = new Map<string, readonly ChildTrace[]>();
  for (const { callId } of calls) {
    const ofCall = events.filter((event) => event.parent !== undefined && callOfTask(event.parent.taskId) === callId);
    const taskIds = [...new Set(ofCall.map((event) => event.parent!.taskId))];
    if (taskIds.length > 0)
      children.set(
        callId,
        taskIds.map((taskId) => childTrace(taskId, ofCall, events, load)),
      );
  }
  return children;
}

function childTrace(
  taskId: string,
  ofCall: readonly LoggedEvent[],
  all: readonly LoggedEvent[],
  load: PictureLoader,
): ChildTrace {
  const own = ofCall.filter((event) => event.parent?.taskId === taskId);
  const { runId, agentName, parent } = own[0]!;
  return {
    taskId,
    taskIndex: parent!.taskIndex,
    runId,
    agentName,
    description: parent!.description,
    trace: traceIn(own, runId, all, load),
    end: endOf(own),
  };
}

/** How a sub-agent inside a suspended call ended; undefined = it waits for a human. */
function endOf(own: readonly LoggedEvent[]): ChildTrace['end'] {
  const last = own.findLast((event) => event.type === 'run_start' || event.type === 'run_end');
  if (last?.type !== 'run_end') return { reason: 'broken', text: '' };
  return last.reason === 'pending' ? undefined : { reason: last.reason, text: last.text };
}

interface SessionFacts {
  readonly attached: ReadonlyMap<string, readonly ImagePart[]>;
  /** The model's own id of each call, by ours. */
  readonly providerIds: ReadonlyMap<string, string>;
  readonly load: PictureLoader;
}

/** Roles alternate: stands where a run ended without a word. */
const UNANSWERED: ChatMessage = { role: 'assistant', text: '(no answer was given)', toolCalls: [] };

/** The message of one user input. */
export function userMessage(input: UserInput, attached: readonly ImagePart[], load: PictureLoader): ChatMessage {
  const parts = input.parts.flatMap((part) => chatParts(part, attached, load));
  if (input.role === 'model') return { role: 'assistant', text: plainText(parts), toolCalls: [] };
  return { role: 'user', parts };
}

function messagesOf(event: LoggedEvent, facts: SessionFacts): readonly ChatMessage[] {
  switch (event.type) {
    case 'run_queued':
    case 'steer_applied':
      return event.input === null ? [] : [userMessage(event.input, facts.attached.get(event.runId) ?? [], facts.load)];
    case 'reason_end': {
      const text = saidIn(event);
      if (text.trim() === '' && event.toolCalls.length === 0) return [];
      return [
        {
          role: 'assistant',
          text,
          ...(event.thinking === undefined ? {} : { thinking: event.thinking }),
          toolCalls: event.toolCalls.map((call) => ({ id: call.providerCallId, name: call.toolName, args: call.args })),
          runId: event.runId,
        },
      ];
    }
    case 'tool_call_end':
      return [
        {
          role: 'tool',
          callId: facts.providerIds.get(event.callId) ?? event.callId,
          toolName: event.toolName,
          text: event.text,
          isError: event.outcome !== 'ok' && event.outcome !== 'skipped',
        },
      ];
    case 'imported':
      return importedMessages(event.event);
    default:
      return [];
  }
}

function providerIds(events: readonly LoggedEvent[]): ReadonlyMap<string, string> {
  const calls = events.flatMap((event) => (event.type === 'reason_end' ? event.toolCalls : []));
  return new Map(calls.map((call) => [call.callId, call.providerCallId]));
}

function chatParts(part: Part, attached: readonly ImagePart[], load: PictureLoader): ChatPart[] {
  switch (part.kind) {
    case 'text':
      return [{ kind: 'text', text: part.text }];
    case 'image':
      return [chatPicture(part, load)];
    case 'image_url':
      return attached.filter((image) => image.index === part.index).map((image) => chatPicture(image, load));
    case 'wire':
      return [];
  }
}

function chatPicture(image: ImagePart, load: PictureLoader): ChatPart {
  const { index, sha256, mimeType, width, height } = image;
  return { kind: 'image', index, sha256, mimeType, width, height, load: () => load(image) };
}

/** Pictures that were given by URL and fetched inside their run. */
function attachedPictures(events: readonly LoggedEvent[]): ReadonlyMap<string, readonly ImagePart[]> {
  const byRun = new Map<string, ImagePart[]>();
  for (const event of events) {
    if (event.type !== 'progress') continue;
    const images = (event.attached ?? []).filter((part): part is ImagePart => part.kind === 'image');
    byRun.set(event.runId, [...(byRun.get(event.runId) ?? []), ...images]);
  }
  return byRun;
}

function openCallsOf(own: readonly LoggedEvent[]): OpenCalls | undefined {
  const last = own.findLast((event) => event.type === 'reason_end');
  if (last?.type !== 'reason_end' || last.interrupted !== undefined || last.toolCalls.length === 0) return undefined;
  const ended = new Set(own.flatMap((event) => (event.type === 'tool_call_end' ? [event.callId] : [])));
  const calls = last.toolCalls.filter((call) => !ended.has(call.callId));
  return calls.length === 0 ? undefined : { reasonId: last.reasonId, calls };
}

/** The newest event of the run, when it is a whole answer that asks for nothing. */
function unjudgedAnswer(own: readonly LoggedEvent[]): EventOf<'reason_end'> | undefined {
  const last = own.at(-1);
  if (last?.type !== 'reason_end' || last.interrupted !== undefined || last.toolCalls.length > 0) return undefined;
  return last;
}

/** An answer with another of the same run right behind it was refused: the model hears the newer one only. */
function isSuperseded(before: ChatMessage | undefined, event: LoggedEvent): boolean {
  if (event.type !== 'reason_end' || before?.role !== 'assistant') return false;
  return before.runId === event.runId && before.toolCalls.length === 0;
}

/** An answer that was nothing but thinking was shown as the answer. */
function saidIn({ text, thinking, toolCalls, interrupted }: EventOf<'reason_end'>): string {
  const isThinkingOnly = text.trim() === '' && toolCalls.length === 0 && interrupted === undefined;
  return isThinkingOnly && thinking !== undefined ? thinking : text;
}

function plainText(parts: readonly ChatPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
}
