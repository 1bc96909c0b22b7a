import { AppError } from '../../common/app-error.js';
import { isJsonObject, type Json, type JsonObject } from '../../common/json.js';
import type { MessagePart, OnDisconnect } from '../../runs/runs.types.js';
import type { Part } from './content.dto.js';
import { AdkRefusal } from './adk-refusal.js';
import type { HarnessOverrides, RunSseRequest } from './run-sse.dto.js';
import type { CreateSessionRequest } from './session.dto.js';
import { segmentProblem } from './id.rules.js';
import { refuse, toIssue, valueError, type Fault } from './validation/issue.js';
import { originOf, spelled, toWire } from './validation/read-model.js';
import { echo, REDACTED } from './validation/validate.js';

const PICTURE_TYPES = 'PNG, JPEG, WebP, GIF or AVIF';
const ALIAS = 'harness';
const ALIASED = 'harness_agent';

/** The agent that an app name stands for. */
export function toAppName(given: string): string {
  return given === ALIAS ? ALIASED : given;
}

/** A message for the runs core, and where each of its pictures stood in the request. */
export interface AdkMessage {
  readonly role: string | undefined;
  readonly parts: readonly MessagePart[];
  readonly pictures: readonly PicturePlace[];
}

/** A picture's value in the request. */
interface PicturePlace {
  readonly loc: readonly (string | number)[];
  readonly input: Json;
}

/**
 * @returns undefined when the request has no message: the run goes on from the history
 * @throws AdkRefusal 422 `value_error` for pictures by other URLs than http(s) or with credentials, and for files that
 *   are no pictures
 */
export function toMessage(request: RunSseRequest): AdkMessage | undefined {
  const { newMessage } = request;
  if (newMessage === undefined || newMessage === null) return undefined;
  const at = ['body', spelled(request, 'newMessage'), spelled(newMessage, 'parts')];
  const converted = (newMessage.parts ?? []).map((part, index) => toParts(part, [...at, index]));
  return {
    role: newMessage.role ?? undefined,
    parts: converted.flatMap(({ parts }) => parts),
    pictures: converted.flatMap(({ pictures }) => pictures),
  };
}

interface Converted {
  readonly parts: readonly MessagePart[];
  readonly pictures: readonly PicturePlace[];
}

/** Pictures and text become parts of their own; what else a part holds is kept as it came. */
function toParts(part: Part, at: readonly (string | number)[]): Converted {
  const inline = inlinePicture(part, at);
  const linked = linkedPicture(part, at);
  const kept = toWire(part);
  const {
    inlineData: _inline,
    fileData: _file,
    text,
    thought,
    thoughtSignature,
    ...others
  } = kept as Record<string, Json>;
  const hasText = text !== undefined || thought !== undefined || thoughtSignature !== undefined;
  const words: MessagePart[] = hasText ? [textPart(kept)] : [];
  const wire: MessagePart[] =
    Object.keys(others).length > 0 || Object.keys(kept).length === 0 ? [{ kind: 'wire', value: others }] : [];
  return {
    parts: [...inline.parts, ...linked.parts, ...words, ...wire],
    pictures: [...inline.pictures, ...linked.pictures],
  };
}

function textPart({ text, thought, thoughtSignature }: JsonObject): MessagePart {
  return {
    kind: 'text',
    text: typeof text === 'string' ? text : '',
    ...(typeof thought === 'boolean' && { thought }),
    ...(typeof thoughtSignature === 'string' && { signature: thoughtSignature }),
  };
}

const NOTHING: Converted = { parts: [], pictures: [] };

function inlinePicture(part: Part, at: readonly (string | number)[]): Converted {
  const { inlineData } = part;
  if (inlineData === undefined || inlineData === null) return NOTHING;
  const { data, displayName, mimeType } = inlineData;
  const here = [...at, spelled(part, 'inlineData')];
  if (typeof mimeType === 'string' && !/^image\//i.test(mimeType))
    throw refusal(
      valueError(`a file must be a picture (${PICTURE_TYPES}), got ${mimeType.slice(0, 100)}`),
      [...here, spelled(inlineData, 'mimeType')],
      mimeType,
    );
  const resource = {
    kind: 'bytes' as const,
    bytes: Buffer.from(data ?? '', 'base64url'),
    ...(typeof mimeType === 'string' && { mimeType }),
  };
  const place = { loc: [...here, spelled(inlineData, 'data')], input: rawOf(inlineData, 'data') };
  return { parts: [{ kind: 'resource', resource, ...named(displayName) }], pictures: [place] };
}

function linkedPicture(part: Part, at: readonly (string | number)[]): Converted {
  const { fileData } = part;
  if (fileData === undefined || fileData === null) return NOTHING;
  const { displayName, fileUri } = fileData;
  const place = {
    loc: [...at, spelled(part, 'fileData'), spelled(fileData, 'fileUri')],
    input: withoutCredentials(rawOf(fileData, 'fileUri')),
  };
  const url = fileUri ?? '';
  const fault = urlFault(url);
  if (fault !== undefined) throw refusal(fault, place.loc, place.input);
  return { parts: [{ kind: 'resource', resource: { kind: 'url', url }, ...named(displayName) }], pictures: [place] };
}

function urlFault(text: string): Fault | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return valueError('a file must be given by an http or https URL');
  const { username, password } = new URL(text);
  return username === '' && password === '' ? undefined : valueError('the URL of a file must not hold credentials');
}

/** Whatever may be a URL with a user name or password is never repeated, a broken one neither. */
const withoutCredentials = (uri: Json): Json =>
  typeof uri === 'string' && /^\s*[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*@/i.test(uri) ? REDACTED : uri;

const named = (displayName: string | null | undefined): { displayName?: string } =>
  typeof displayName === 'string' ? { displayName } : {};

const rawOf = (instance: object, property: string): Json =>
  originOf(instance).source[spelled(instance, property)] ?? null;

const refusal = (fault: Fault, loc: readonly (string | number)[], input: Json): AdkRefusal =>
  refuse([toIssue(fault, loc, echo(input))]);

/** A picture that the intake refused, at its place in the request; any other error as it is. */
export function toPictureRefusal(error: unknown, { pictures }: AdkMessage): unknown {
  if (!(error instanceof AppError) || !['IMAGE_UNREADABLE', 'RESOURCE_INVALID'].includes(error.reason)) return error;
  const index = error.details?.['index'];
  const place = typeof index === 'number' ? pictures[index] : undefined;
  return place === undefined ? error : refusal(valueError(error.message), place.loc, place.input);
}

/**
 * Function responses answer calls that wait. None waits here, so each of them names a call that is not there.
 * @returns the sentence of the error frame, or undefined
 */
export function orphanResponse(request: RunSseRequest): string | undefined {
  const parts = request.newMessage?.parts ?? [];
  const ids = parts.flatMap(({ functionResponse }) => (functionResponse?.id ? [functionResponse.id] : []));
  if (ids.length === 0) return undefined;
  if (parts.some(({ text }) => typeof text === 'string' && text !== ''))
    return (
      'Message cannot contain both function responses and text. ' +
      'Function responses resume an existing invocation while text starts a new one.'
    );
  return `Function call not found for function response ids: {${ids.map((id) => `'${id}'`).join(', ')}}.`;
}

/** @throws AppError `NOT_IMPLEMENTED` when the request overrides anything: presence decides, not truth */
export function refuseOverrides(harness: HarnessOverrides | null | undefined): void {
  const given = Object.entries(harness ?? {}).filter(([key, value]) => value !== null || key !== 'max_llm_calls');
  if (given.length > 0) throw new AppError('NOT_IMPLEMENTED', 'harness overrides are not available in this version');
}

/**
 * The id that the client wants for its new session; undefined = a random one.
 * @throws AdkRefusal 422 for an id that no session can have
 */
export function toSessionId(request: CreateSessionRequest): string | undefined {
  const property = typeof request.sessionId === 'string' ? 'sessionId' : 'id';
  const id = (request[property] ?? '').trim();
  if (id === '') return undefined;
  const fault = segmentProblem('session', id);
  if (fault === undefined) return id;
  throw refusal(fault, ['body', spelled(request, property)], rawOf(request, property));
}

/** The state of the old creation route: the body itself, or its `state` when it holds nothing else. */
export function toLegacyState(body: JsonObject): JsonObject {
  const { state } = body;
  return Object.keys(body).length === 1 && isJsonObject(state) ? state : body;
}

/** What the header `x-on-disconnect` says; undefined when it says nothing that is known. */
export function toOnDisconnect(header: string | string[] | undefined): OnDisconnect | undefined {
  return header === 'cancel' || header === 'continue' ? header : undefined;
}
