import { ArrayMaxSize, IsOptional } from 'class-validator';
import { ID_LENGTHS } from '../../common/id-rules.js';
import type { JsonObject } from '../../common/json.js';
import { CAPABILITIES, type Capability } from '../../events/projection.js';
import { MESSAGE_MODES, ON_DISCONNECT, type MessageMode, type OnDisconnect } from '../../runs/runs.types.js';
import type { Cancel, Message, ResourceInput } from './generated/harness/v1/action.js';
import type { GetRunRequest, ObserveRequest } from './generated/harness/v1/run.js';
import type {
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  ListSessionsRequest,
} from './generated/harness/v1/session.js';
import { IsCursor, IsGiven, IsId, IsOneOf, IsSomeOf, IsText, IsWithin, IsZone } from './grpc-rules.js';

const SOURCE_TYPES = ['url', 'base64', 'upload', 'artifact'] as const;

export class CreateSessionDto implements CreateSessionRequest {
  @IsOptional() @IsId('app') readonly agent: string | undefined;
  @IsOptional() @IsId('user') readonly user_id: string | undefined;
  @IsSomeOf(CAPABILITIES) readonly capabilities!: readonly Capability[];
  @IsOptional() @IsText(ID_LENGTHS.reference) readonly client_reference: string | undefined;
  @IsOptional() @IsZone() readonly time_zone: string | undefined;
  readonly state: JsonObject | undefined;
  @IsOptional() @IsId('request') readonly request_id: string | undefined;
}

export class GetSessionDto implements GetSessionRequest {
  @IsId('session') readonly session_id!: string;
  @IsOptional() @IsWithin(1, 200) readonly runs: number | undefined;
  @IsOptional() @IsId('session') readonly before: string | undefined;
  readonly events: boolean | undefined;
}

export class ListSessionsDto implements ListSessionsRequest {
  @IsOptional() @IsText(ID_LENGTHS.reference) readonly client_reference: string | undefined;
  readonly page_token: string | undefined;
  @IsOptional() @IsWithin(1, 200) readonly limit: number | undefined;
}

export class DeleteSessionDto implements DeleteSessionRequest {
  @IsId('session') readonly session_id!: string;
}

export class ObserveDto implements ObserveRequest {
  @IsId('session') readonly session_id!: string;
  @IsId('session') readonly run_id!: string;
  @IsOptional() @IsCursor() readonly after_seq: string | undefined;
}

export class GetRunDto extends ObserveDto implements GetRunRequest {
  @IsOptional() @IsWithin(1, 500) readonly limit: number | undefined;
  @IsOptional() @IsWithin(0, 25_000) readonly wait_ms: number | undefined;
}

/** What every action has. */
export class ActionDto {
  @IsId('session') readonly session_id!: string;
  // Rules are asked from the last to the first.
  @IsId('request') @IsGiven() readonly request_id!: string;
}

export class MessageDto implements Message {
  readonly text: string | undefined;
  @ArrayMaxSize(10, { context: { reason: 'RESOURCE_INVALID' }, message: 'a message has at most 10 resources' })
  readonly resources!: readonly ResourceInput[];
  @IsOptional() @IsZone() readonly time_zone: string | undefined;
  @IsOptional() @IsOneOf(MESSAGE_MODES) readonly mode: MessageMode | undefined;
  @IsSomeOf(CAPABILITIES) readonly capabilities!: readonly Capability[];
  readonly response_schema: JsonObject | undefined;
  @IsOptional() @IsOneOf(ON_DISCONNECT) readonly on_disconnect: OnDisconnect | undefined;
  readonly webhook: Message['webhook'];
}

export class ResourceDto implements ResourceInput {
  @IsOptional() @IsId('resource') readonly resource_id: string | undefined;
  readonly source: ResourceInput['source'];
  readonly mime_type: string | undefined;
  @IsOptional() @IsOneOf(SOURCE_TYPES, 'RESOURCE_INVALID') readonly source_type:
    (typeof SOURCE_TYPES)[number] | undefined;
}

export class CancelDto implements Cancel {
  @IsOptional() @IsId('session') readonly run_id: string | undefined;
  readonly reason: string | undefined;
}
