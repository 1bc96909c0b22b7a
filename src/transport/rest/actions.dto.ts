import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  Equals,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { JsonObject } from '../../common/json.js';
import { CAPABILITIES, type Capability } from '../../events/projection.js';
import { MESSAGE_MODES, ON_DISCONNECT, type MessageMode, type OnDisconnect } from '../../runs/runs.types.js';
import { IsIdText, IsTimeZoneName, NotImplemented, Required, says } from './field-rules.js';
import { ResourceInputDto } from './resource.dto.js';
import { IsCapabilities } from './sessions.dto.js';

const MAX_REASON = 1024;

/** `action: message`: a new message to a session makes a run. */
export class MessageActionDto {
  static readonly lists = { resources: ResourceInputDto };

  @ApiProperty({ maxLength: 256 })
  @Required()
  @IsIdText('session')
  session_id!: string;

  @ApiProperty({ description: 'Makes a retry safe: the same id and body never make a second run.', maxLength: 128 })
  @Required('REQUEST_ID_REQUIRED')
  @IsIdText('request')
  request_id!: string;

  @ApiProperty({ enum: ['message'] })
  @Equals('message')
  action!: 'message';

  @ApiPropertyOptional({ description: 'Needed unless there is a resource.' })
  @IsOptional()
  @IsString(says('must be a string'))
  text?: string;

  @ApiPropertyOptional({ type: [ResourceInputDto], description: 'Pictures, in order.' })
  @IsOptional()
  @IsArray(says('must be a list', 'RESOURCE_INVALID'))
  @ValidateNested({ each: true, ...says('must hold objects', 'RESOURCE_INVALID') })
  resources?: ResourceInputDto[];

  @ApiPropertyOptional({ description: 'IANA name; decides what the agent thinks today is.', example: 'Asia/Shanghai' })
  @IsOptional()
  @IsTimeZoneName()
  time_zone?: string;

  @ApiPropertyOptional({ enum: MESSAGE_MODES, default: 'queue', description: 'What a busy session does with it.' })
  @IsOptional()
  @IsIn(MESSAGE_MODES, says(`must be one of ${MESSAGE_MODES.join(', ')}`))
  mode?: MessageMode;

  @ApiPropertyOptional({ enum: CAPABILITIES, isArray: true, description: 'Default those of the session.' })
  @IsOptional()
  @IsCapabilities()
  capabilities?: Capability[];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'JSON schema (2020-12, at most 16 KiB, no remote $ref) of the result.',
  })
  @IsOptional()
  @IsObject(says('must be a JSON schema object'))
  response_schema?: JsonObject;

  @ApiPropertyOptional({ enum: ON_DISCONNECT, default: 'continue', description: 'Counts for a streamed answer.' })
  @IsOptional()
  @IsIn(ON_DISCONNECT, says('must be cancel or continue'))
  on_disconnect?: OnDisconnect;

  @NotImplemented()
  webhook?: unknown;
}

/** `action: cancel`: ends the active run of a session. */
export class CancelActionDto {
  @ApiProperty({ maxLength: 256 })
  @Required()
  @IsIdText('session')
  session_id!: string;

  @ApiProperty({ maxLength: 128 })
  @Required('REQUEST_ID_REQUIRED')
  @IsIdText('request')
  request_id!: string;

  @ApiProperty({ enum: ['cancel'] })
  @Equals('cancel')
  action!: 'cancel';

  @ApiPropertyOptional({ description: 'Only if this run is the active one.' })
  @IsOptional()
  @IsIdText('session')
  run_id?: string;

  @ApiPropertyOptional({ maxLength: MAX_REASON })
  @IsOptional()
  @IsString(says('must be a string'))
  reason?: string;
}

/** `action: observe`: reads a run from a cursor. */
export class ObserveActionDto {
  @ApiProperty({ maxLength: 256 })
  @Required()
  @IsIdText('session')
  session_id!: string;

  @ApiProperty({ enum: ['observe'] })
  @Equals('observe')
  action!: 'observe';

  @ApiProperty()
  @Required()
  @IsIdText('session')
  run_id!: string;

  @ApiPropertyOptional({ description: 'Id of the last event already seen.', default: 0 })
  @IsOptional()
  @IsInt(says('must be the id of an event', 'CURSOR_INVALID'))
  @Min(0, says('must be the id of an event', 'CURSOR_INVALID'))
  @Max(Number.MAX_SAFE_INTEGER, says('must be the id of an event', 'CURSOR_INVALID'))
  cursor?: number;
}
