import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayUnique, IsArray, IsIn, IsObject, IsOptional, IsString, Length } from 'class-validator';
import { ID_LENGTHS } from '../../common/id-rules.js';
import type { JsonObject } from '../../common/json.js';
import { CAPABILITIES, type Capability } from '../../events/projection.js';
import { IsIdText, IsTimeZoneName, says } from './field-rules.js';

const CAPABILITY_RULE = says(`must be a list of ${CAPABILITIES.join(' and ')}, each at most once`);

/** What a message or a session may use. */
export function IsCapabilities(): PropertyDecorator {
  return (target, property) => {
    IsArray(CAPABILITY_RULE)(target, property);
    IsIn(CAPABILITIES, { ...CAPABILITY_RULE, each: true })(target, property);
    ArrayUnique(CAPABILITY_RULE)(target, property);
  };
}

/** Body of `POST /v1/sessions`. */
export class CreateSessionDto {
  @ApiPropertyOptional({ description: 'Name of an agent; default `runs.defaultAgent`.', example: 'vision_agent' })
  @IsOptional()
  @IsIdText('app')
  agent?: string;

  @ApiPropertyOptional({ description: 'Whose session it is; default the caller.', maxLength: 256 })
  @IsOptional()
  @IsIdText('user')
  user_id?: string;

  @ApiPropertyOptional({
    enum: CAPABILITIES,
    isArray: true,
    description: 'The most that a message of this session may use; default those of the agent.',
  })
  @IsOptional()
  @IsCapabilities()
  capabilities?: Capability[];

  @ApiPropertyOptional({ description: 'Any text of yours, returned and filterable; need not be unique.' })
  @IsOptional()
  @IsString(says('must be a string'))
  @Length(1, ID_LENGTHS.reference, says(`must have 1 to ${ID_LENGTHS.reference} characters`))
  client_reference?: string;

  @ApiPropertyOptional({ description: 'IANA name.', example: 'Asia/Shanghai' })
  @IsOptional()
  @IsTimeZoneName()
  time_zone?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @IsObject(says('must be an object'))
  state?: JsonObject;

  @ApiPropertyOptional({ description: 'The same id and body again answer the same session.', maxLength: 128 })
  @IsOptional()
  @IsIdText('request')
  request_id?: string;
}
