import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AppError } from '../../common/app-error.js';

/** Routes of the contract that this version does not have: known, so never an unknown route. */
@Controller('v1')
@ApiExcludeController()
export class LaterController {
  @Get([
    'sessions/:sid/runs/:rid/audit',
    'sessions/:sid/runs/:rid/deliveries',
    'requests/:request_id',
    'artifacts/:artifact_id',
    'runs',
  ])
  get(): never {
    throw notImplemented();
  }

  @Post([
    'sessions/:sid/messages',
    'sessions/:sid/steer',
    'sessions/:sid/cancel',
    'sessions/:sid/runs/:rid/questions/:qid/answers',
    'sessions/:sid/runs/:rid/approvals/:call_uuid',
    'tickets',
  ])
  post(): never {
    throw notImplemented();
  }

  @Delete('users/:user_id/data')
  delete(): never {
    throw notImplemented();
  }
}

function notImplemented(): AppError {
  return new AppError('NOT_IMPLEMENTED', 'this route is not implemented in this version');
}
