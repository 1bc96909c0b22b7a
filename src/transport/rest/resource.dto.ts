import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { IsIdText, NotImplemented, says } from './field-rules.js';

/** A picture as a caller names it: by `url`, by `data`, or by the `resource_id` of a stored one. */
export class ResourceInputDto {
  @ApiPropertyOptional({ description: 'Default `img-<index+1>`, made unique in the session.', maxLength: 256 })
  @IsOptional()
  @IsIdText('resource')
  resource_id?: string;

  @ApiPropertyOptional({ description: 'http or https; fetched once, inside the run.' })
  @IsOptional()
  @IsString(says('must be a string', 'RESOURCE_INVALID'))
  url?: string;

  @ApiPropertyOptional({ description: 'Base64 of the file: standard or URL-safe, padding optional.' })
  @IsOptional()
  @IsString(says('must be a string', 'RESOURCE_INVALID'))
  data?: string;

  @ApiPropertyOptional({ description: 'A hint; the bytes decide.', example: 'image/png' })
  @IsOptional()
  @IsString(says('must be a string', 'RESOURCE_INVALID'))
  mime_type?: string;

  @ApiPropertyOptional({ enum: ['url', 'base64', 'upload'], description: 'May be sent and must then agree.' })
  @IsOptional()
  @IsIn(['url', 'base64', 'upload', 'artifact'], says('must be url, base64, upload or artifact', 'RESOURCE_INVALID'))
  source_type?: 'url' | 'base64' | 'upload' | 'artifact';

  @NotImplemented()
  artifact_id?: string;
}
