import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';

/** The name of an operation in the document; clients that were generated from it call it so. */
export const AdkOperation = (operationId: `harnessRuntime${string}`, summary: string): MethodDecorator =>
  applyDecorators(ApiTags('adk'), ApiOperation({ operationId, summary }));
