import { assertNever } from '../../common/assert-never.js';
import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import type { EventOf } from '../../events/harness-event.js';
import type { ImagePart, Part, UserInput } from '../../events/parts.js';
import type { TokenCounts, ToolCallRequest } from '../../events/values.js';

/** The tool that asks the user, and what ADK calls it. */
export const ASK_USER = 'ask_user';
export const REQUEST_INPUT = 'adk_request_input';
export const REQUEST_CONFIRMATION = 'adk_request_confirmation';

/** Stands for a stored picture until its bytes are put in; no client can send such a part. */
export interface PicturePart {
  readonly picture: Omit<ImagePart, 'kind' | 'index'>;
}

/** Id of a call on the wire: the model's own, else one made from ours. */
export function wireCallId(call: ToolCallRequest): string {
  return call.providerCallId === '' ? `adk-${call.callId}` : call.providerCallId;
}

/** `args` is left out when the model sent none, or a text that is no object. */
export function callPart(call: ToolCallRequest): JsonObject {
  const isQuestion = call.toolName === ASK_USER;
  const args = isQuestion ? questionArgs(call.args) : call.args;
  return {
    functionCall: {
      id: wireCallId(call),
      ...(isJsonObject(args) && { args }),
      name: isQuestion ? REQUEST_INPUT : call.toolName,
    },
  };
}

function questionArgs(args: ToolCallRequest['args']): JsonObject {
  const questions = isJsonObject(args) && Array.isArray(args['questions']) ? (args['questions'] as Json[]) : [];
  const message = questions
    .map((item) => (isJsonObject(item) && typeof item['question'] === 'string' ? item['question'] : ''))
    .join('\n');
  return { message, questions };
}

export function responsePart(id: string, name: string, response: JsonObject): JsonObject {
  return { functionResponse: { id, name, response } };
}

/** What a tool answered, as an object: JSON objects as they are, anything else wrapped. */
export function toResponse(event: EventOf<'tool_call_end'>): JsonObject {
  if (event.outcome === 'cancelled') return { error: 'cancelled' };
  if (event.outcome !== 'ok') return { error: event.text };
  const result: Json = event.meta?.['json'] === true ? (JSON.parse(event.text) as Json) : event.text;
  return isJsonObject(result) ? result : { result };
}

export function toUsageMetadata(usage: TokenCounts): JsonObject {
  return {
    ...(usage.cacheReadInputTokens > 0 && { cachedContentTokenCount: usage.cacheReadInputTokens }),
    candidatesTokenCount: usage.completionTokens,
    promptTokenCount: usage.promptTokens,
    totalTokenCount: usage.totalTokens,
  };
}

/** A user's message as content; `parts` is left out when there are none. */
export function toContent(input: UserInput): { parts?: readonly Json[]; role: string } {
  const parts = input.parts.map(toPart);
  return { ...(parts.length > 0 && { parts }), role: input.role ?? 'user' };
}

function toPart(part: Part): JsonObject {
  switch (part.kind) {
    case 'text':
      return {
        text: part.text,
        ...(part.thought !== undefined && { thought: part.thought }),
        ...(part.signature !== undefined && { thoughtSignature: part.signature }),
      };
    case 'image':
      return { picture: toPicture(part) };
    case 'image_url':
      return { fileData: { ...named(part), fileUri: part.url } };
    case 'wire':
      return part.value;
    default:
      return assertNever(part);
  }
}

function toPicture(part: ImagePart): JsonObject {
  const { resourceId, sha256, mimeType, width, height, bytes } = part;
  return { resourceId, sha256, mimeType, width, height, bytes, ...named(part) };
}

const named = ({ displayName }: { displayName?: string }): JsonObject =>
  displayName === undefined ? {} : { displayName };
