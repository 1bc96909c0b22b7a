import { Controller, Get, Param, Query, UseGuards, UseInterceptors } from '@nestjs/common';
import { Public } from '../../auth/public.decorator.js';
import { AppError } from '../../common/app-error.js';
import { Config } from '../../config/config.js';
import { PRODUCT_VERSION } from '../../config/product-version.js';
import { HarnessService } from '../../harness/harness.service.js';
import { AdkJson } from './adk-json.interceptor.js';
import { AdkOperation } from './adk.docs.js';
import { toAppInfo, toAppSummary, type AppInfo } from './app-info.js';
import { toAppName } from './adk.requests.js';
import { AdkOriginGuard } from './adk-origin.guard.js';
import { flagFrom } from './validation/query.js';

/** The version of ADK whose wire this is. */
const WIRE = { version: '2.2.0', language: 'python', language_version: '3.12.0' } as const;

/** Probes, versions and the list of agents. */
@Controller()
@UseGuards(AdkOriginGuard)
@UseInterceptors(AdkJson)
export class AdkServiceController {
  constructor(
    private readonly harness: HarnessService,
    private readonly config: Config,
  ) {}

  @Get('health')
  @Public()
  @AdkOperation('harnessRuntimeHealth', 'Says that the server answers')
  health(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ping')
  @Public()
  @AdkOperation('harnessRuntimePing', 'The same under another name')
  ping(): { status: 'ok' } {
    return this.health();
  }

  @Get('version')
  @AdkOperation('harnessRuntimeVersion', 'Versions of the wire and of this server')
  version(): object {
    const database = this.config.database.url.split(':', 1)[0];
    return { ...WIRE, bridle: { version: PRODUCT_VERSION, model: this.harness.defaultModel, database } };
  }

  @Get('list-apps')
  @AdkOperation('harnessRuntimeListApps', 'The agents that can be named')
  listApps(@Query('detailed') detailed: string | string[] | undefined): object {
    const apps = this.harness.agentsFor('adk').map(({ agent }) => agent);
    return flagFrom('detailed', detailed) ? { apps: apps.map(toAppSummary) } : apps.map(({ name }) => name);
  }

  @Get('apps/:app/app-info')
  @AdkOperation('harnessRuntimeGetAppInfo', 'One agent with its tools')
  appInfo(@Param('app') app: string): AppInfo {
    const name = toAppName(app);
    const found = this.harness.agentsFor('adk').find(({ agent }) => agent.name === name);
    if (found === undefined) throw new AppError('AGENT_NOT_FOUND', `App not found: ${app}`);
    return toAppInfo(found.agent, found.tools);
  }
}
