import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { getSchemaPath } from '@nestjs/swagger';
import { CancelActionDto, MessageActionDto, ObserveActionDto } from './actions.dto.js';
import { CreateSessionDto } from './sessions.dto.js';

type SchemaName =
  'AgentList' | 'Session' | 'SessionList' | 'SessionSnapshot' | 'SessionClosed' | 'Receipt' | 'RunPage' | 'Resource';

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: SchemaName) => ({ 'application/json': { schema: refTo(name) } });

interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** HTTP statuses of the error object. */
  readonly errors: readonly number[];
}

/** What every operation has: a stable id, and the errors that it may answer with. */
function operation({ id, tag, summary, description, errors }: Operation): MethodDecorator {
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    ...[401, ...errors, 500].map((status) =>
      ApiResponse({ status, description: 'Error', content: { 'application/json': { schema: refTo('ErrorBody') } } }),
    ),
  );
}

const success = (status: number, description: string, schema: SchemaName): MethodDecorator =>
  ApiResponse({ status, description, content: json(schema) });

const number = (name: string, description: string, range: { minimum: number; maximum?: number; default: number }) =>
  ApiQuery({ name, required: false, description, schema: { type: 'integer', ...range } });

const text = (name: string, description: string) =>
  ApiQuery({ name, required: false, description, schema: { type: 'string' } });

const encoding = (absent: 'flat' | 'envelope') =>
  ApiQuery({
    name: 'encoding',
    required: false,
    schema: { type: 'string', enum: ['flat', 'envelope'], default: absent },
  });

const sessionParam = ApiParam({ name: 'sid', description: 'Id of the session.', schema: { type: 'string' } });
const runParam = ApiParam({ name: 'rid', description: 'Id of the run.', schema: { type: 'string' } });
const cursor = number('cursor', 'Id of the last event already seen; the answer holds larger ones.', {
  minimum: 0,
  default: 0,
});
const lastEventId = ApiHeader({
  name: 'Last-Event-ID',
  required: false,
  description: 'As `cursor`; the larger of both wins.',
  schema: { type: 'string' },
});

/** A stream described as the event objects that its frames are. */
const eventStream = { 'text/event-stream': { schema: { oneOf: [refTo('FlatFrame'), refTo('EnvelopeFrame')] } } };

export const ListAgentsDocs = (): MethodDecorator =>
  applyDecorators(
    operation({ id: 'listAgents', tag: 'agents', summary: 'What can be chosen', errors: [] }),
    success(200, 'The agents of this API.', 'AgentList'),
  );

export const CreateSessionDocs = (): MethodDecorator =>
  applyDecorators(
    operation({ id: 'createSession', tag: 'sessions', summary: 'Create a session', errors: [400, 403, 404, 409, 415] }),
    ApiBody({
      type: CreateSessionDto,
      required: false,
      examples: {
        vision: {
          summary: 'A session for pictures',
          value: { capabilities: ['vision'], client_reference: 'order-1001', time_zone: 'Asia/Shanghai' },
        },
      },
    }),
    success(201, 'The session; `Idempotent-Replayed: true` when its request_id was seen before.', 'Session'),
  );

export const ListSessionsDocs = (): MethodDecorator =>
  applyDecorators(
    operation({ id: 'listSessions', tag: 'sessions', summary: 'List sessions, newest first', errors: [400] }),
    text('client_reference', 'Only sessions with this reference.'),
    text('page_token', 'From `next_page_token` of the page before.'),
    number('limit', 'Sessions of a page.', { minimum: 1, maximum: 200, default: 20 }),
    success(200, 'One page.', 'SessionList'),
  );

export const GetSessionDocs = (): MethodDecorator =>
  applyDecorators(
    operation({ id: 'getSession', tag: 'sessions', summary: 'A session and its newest runs', errors: [400, 404, 410] }),
    sessionParam,
    number('runs', 'How many runs.', { minimum: 1, maximum: 200, default: 20 }),
    text('before', 'Only runs before this run id.'),
    number('events', '0 leaves the events out.', { minimum: 0, maximum: 1, default: 1 }),
    success(200, 'The snapshot; runs are oldest first.', 'SessionSnapshot'),
  );

export const DeleteSessionDocs = (): MethodDecorator =>
  applyDecorators(
    operation({
      id: 'deleteSession',
      tag: 'sessions',
      summary: 'Cancel the active run and delete everything of the session',
      errors: [400, 404, 410],
    }),
    sessionParam,
    success(202, 'Nothing of it is readable from now on.', 'SessionClosed'),
  );

export const ActionDocs = (): MethodDecorator =>
  applyDecorators(
    operation({
      id: 'act',
      tag: 'actions',
      summary: 'Send a message, cancel or observe a run',
      description:
        'With `Accept: text/event-stream` a message or an observation is answered by the events of its run, ' +
        'until it ends or waits for input.',
      errors: [400, 403, 404, 409, 410, 413, 415, 422, 429, 501],
    }),
    encoding('flat'),
    lastEventId,
    ApiHeader({
      name: 'x-on-disconnect',
      required: false,
      description: 'As `on_disconnect`, which goes first.',
      schema: { type: 'string', enum: ['cancel', 'continue'] },
    }),
    ApiExtraModels(MessageActionDto, CancelActionDto, ObserveActionDto),
    ApiBody({
      schema: {
        oneOf: [MessageActionDto, CancelActionDto, ObserveActionDto].map((dto) => ({ $ref: getSchemaPath(dto) })),
        discriminator: {
          propertyName: 'action',
          mapping: {
            message: getSchemaPath(MessageActionDto),
            cancel: getSchemaPath(CancelActionDto),
            observe: getSchemaPath(ObserveActionDto),
          },
        },
      },
    }),
    ApiResponse({
      status: 200,
      description: 'The events of the run; the page of an observation; or the receipt of a cancel without a live run.',
      content: {
        ...eventStream,
        'application/json': { schema: { oneOf: [refTo('RunPage'), refTo('Receipt')] } },
      },
    }),
    success(202, 'The receipt; `Idempotent-Replayed: true` when the request_id was seen before.', 'Receipt'),
  );

export const GetRunDocs = (): MethodDecorator =>
  applyDecorators(
    operation({ id: 'getRun', tag: 'runs', summary: 'A run and its next events', errors: [400, 404, 409, 410] }),
    sessionParam,
    runParam,
    cursor,
    number('limit', 'Events of a page.', { minimum: 1, maximum: 500, default: 100 }),
    number('wait_ms', 'Wait so many milliseconds for a first new event.', { minimum: 0, maximum: 25_000, default: 0 }),
    success(200, 'The run as it is now.', 'RunPage'),
  );

export const StreamRunDocs = (): MethodDecorator =>
  applyDecorators(
    operation({
      id: 'streamRun',
      tag: 'runs',
      summary: 'Follow a run until its end',
      errors: [400, 404, 409, 410, 429],
    }),
    sessionParam,
    runParam,
    cursor,
    encoding('envelope'),
    lastEventId,
    ApiResponse({ status: 200, description: 'The events, as they come.', content: eventStream }),
    ApiResponse({ status: 204, description: 'The cursor stands at the last event: there will be no other.' }),
  );

export const PutResourceDocs = (): MethodDecorator =>
  applyDecorators(
    operation({
      id: 'putResource',
      tag: 'resources',
      summary: 'Upload a picture',
      errors: [400, 404, 408, 409, 410, 413, 415, 422],
    }),
    sessionParam,
    ApiParam({ name: 'resource_id', description: 'Your name for it.', schema: { type: 'string', maxLength: 256 } }),
    ApiBody({
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: { file: { type: 'string', format: 'binary' } },
          },
        },
        'image/*': { schema: { type: 'string', format: 'binary' } },
        'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      },
    } as never),
    success(200, 'The same bytes were stored under this id before.', 'Resource'),
    success(201, 'The stored picture.', 'Resource'),
  );
