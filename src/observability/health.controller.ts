import { Controller, Get, Res, SetMetadata } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PUBLIC_ROUTE, type PublicRoute } from '../common/public-route.js';
import { Metrics } from './metrics.js';
import { Readiness } from './readiness.js';

const OPEN: PublicRoute = 'always';
const OPEN_ON_LOOPBACK: PublicRoute = 'on-loopback';

/** What probes and scrapers ask. */
@Controller()
@ApiTags('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  /** The process runs and its event loop turns. */
  @Get('livez')
  @SetMetadata(PUBLIC_ROUTE, OPEN)
  @ApiOperation({ operationId: 'livez', summary: 'The process runs' })
  livez(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when it takes work, 503 with the reasons when not. */
  @Get('readyz')
  @SetMetadata(PUBLIC_ROUTE, OPEN)
  @ApiOperation({ operationId: 'readyz', summary: 'The process takes work' })
  readyz(@Res({ passthrough: true }) reply: FastifyReply): { status: string; problems?: readonly string[] } {
    const problems = this.readiness.problems();
    const notes = this.readiness.notes();
    void reply.code(problems.length === 0 ? 200 : 503).header('cache-control', 'no-store');
    return {
      status: problems.length === 0 ? 'ready' : 'unavailable',
      ...(problems.length === 0 ? {} : { problems }),
      ...(notes.length === 0 ? {} : { notes }),
    };
  }

  @Get('metrics')
  @SetMetadata(PUBLIC_ROUTE, OPEN_ON_LOOPBACK)
  @ApiOperation({ operationId: 'metrics', summary: 'Figures in the text format of Prometheus' })
  async scrape(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    void reply.type(this.metrics.registry.contentType).header('cache-control', 'no-store');
    return this.metrics.registry.metrics();
  }
}

/** `GET /health` of a process that has no dialect to answer it. */
@Controller()
@ApiTags('health')
export class PlainHealthController {
  @Get('health')
  @ApiOperation({ operationId: 'health', summary: 'The process answers' })
  @SetMetadata(PUBLIC_ROUTE, OPEN)
  health(): { status: 'ok' } {
    return { status: 'ok' };
  }
}
