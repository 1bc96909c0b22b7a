import { Controller, Param, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller } from '../../auth/caller.decorator.js';
import type { Principal } from '../../auth/principal.js';
import type { JsonObject } from '../../common/json.js';
import { Logger } from '../../observability/logger.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import { PicturesService } from '../../vision/pictures.service.js';
import { PathIds } from './path-ids.pipe.js';
import { PutResourceDocs } from './rest.docs.js';
import { toResource } from './rest.views.js';
import { UploadReader } from './upload-reader.js';

/** Pictures that are uploaded before a message names them. */
@Controller('v1/sessions/:sid/resources')
export class ResourcesController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly pictures: PicturesService,
    private readonly uploads: UploadReader,
    private readonly logger: Logger,
  ) {}

  @Put(':resource_id')
  @PutResourceDocs()
  async put(
    @Caller() principal: Principal,
    @Param(PathIds) { sid, resource_id }: { sid: string; resource_id: string },
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const session = await this.sessions.get(principal, sid);
    const bytes = await this.uploads.read(request);
    const { resource, created } = await this.pictures.upload(session, resource_id, bytes);
    const facts = { sessionId: sid, resourceId: resource_id, sha256: resource.picture?.sha256, created };
    this.logger.info('picture uploaded', { traceId: request.id, ...facts });
    void reply.code(created ? 201 : 200);
    return toResource(resource);
  }
}
