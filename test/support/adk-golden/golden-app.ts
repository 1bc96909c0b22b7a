import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../../../src/app.module.js';
import { ServerState } from '../../../src/boot/server-state.js';
import { SystemClock } from '../../../src/common/clock.js';
import { Database } from '../../../src/database/database.js';
import { ModelRegistry } from '../../../src/harness/models/model-registry.js';
import type { ChatModel } from '../../../src/harness/ports/chat-model.port.js';
import type { Tool } from '../../../src/harness/ports/tool.port.js';
import { ToolRegistry } from '../../../src/harness/tools/tool-registry.js';
import { Logger } from '../../../src/observability/logger.js';
import { adkUrl } from '../../../src/transport/adk/adk-url.js';
import { RunsModule } from '../../../src/runs/runs.module.js';
import { createHttpAdapter, prepareHttpApp } from '../../../src/transport/http/http-app.js';
import { ImageIntake } from '../../../src/vision/image-intake.js';
import { aConfig } from '../test-config.js';
import { AdkScriptModel } from './adk-script-model.js';
import { SdkScriptModel } from './sdk-script-model.js';
import { ADK_TOOLS, SDK_TOOLS } from './script-tools.js';

/** Which peer's script table and tools the server plays. */
export type Peer = 'adk' | 'sdk';

export interface GoldenApp {
  readonly port: number;
  close(): Promise<void>;
}

interface PeerFacts {
  readonly model: ChatModel;
  readonly tools: readonly Tool[];
  /** Agent files by name. */
  readonly agents: Readonly<Record<string, string>>;
}

function factsOf(peer: Peer): PeerFacts {
  if (peer === 'sdk') {
    const agents = { harness_agent: agentFile('Golden agent.', 'Base prompt.', SDK_TOOLS) };
    return { model: new SdkScriptModel(), tools: SDK_TOOLS, agents };
  }
  const agents = {
    harness_agent: agentFile('Scripted agent', 'Follow the script.', ADK_TOOLS),
    not_llm: agentFile('Not an llm agent', 'Nothing.', []),
  };
  return { model: new AdkScriptModel(), tools: ADK_TOOLS, agents };
}

function agentFile(description: string, prompt: string, tools: readonly Tool[]): string {
  const names = tools.map(({ declaration }) => declaration.name).join(', ');
  return `---\ndescription: ${description}\ntools: [${names}]\nexpose: [v1, adk]\n---\n${prompt}\n`;
}

const anyBytes: ImageIntake['check'] = (bytes) =>
  Promise.resolve({ bytes, mimeType: 'image/png', width: 1, height: 1 });

/** The plain tools in place of the built-in ones. */
class PlainTools implements Pick<ToolRegistry, 'names' | 'toolsOf' | 'scriptToolsIn'> {
  constructor(private readonly tools: readonly Tool[]) {}

  names(): string[] {
    return this.tools.map(({ declaration }) => declaration.name);
  }

  toolsOf(names: readonly string[]): Tool[] {
    return this.tools.filter(({ declaration }) => names.includes(declaration.name));
  }

  scriptToolsIn(): Tool[] {
    return [];
  }
}

/**
 * The server with the peer's agent, on a database of its own: the real doors, services and engine around a model
 * and tools that play the recorded ones. Its picture intake takes any bytes, as the peer does, unless the real one is
 * asked for.
 */
export async function startGoldenApp(
  peer: Peer,
  variables: Readonly<Record<string, string>> = {},
  options: { readonly realIntake?: boolean; readonly logger?: Logger } = {},
): Promise<GoldenApp> {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-golden-'));
  const { model, tools, agents } = factsOf(peer);
  for (const [name, text] of Object.entries(agents)) writeFileSync(join(folder, `${name}.md`), text);
  const config = aConfig({
    BRIDLE_STORAGE_DIR: join(folder, 'data'),
    BRIDLE_AGENTS_DIR: folder,
    BRIDLE_DATABASE_URL: 'sqlite::memory:',
    BRIDLE_RUNS_DEFAULT_AGENT: 'harness_agent',
    BRIDLE_EVENTS_COALESCE: 'false',
    BRIDLE_EVENTS_PING_MS: '600000',
    BRIDLE_DOCS_ENABLED: 'false',
    // No recorded picture URL is looked up.
    BRIDLE_FETCH_ALLOW_HOSTS: 'pictures.test',
    BRIDLE_LOG_LEVEL: 'silent',
    ...variables,
  });
  const database = await Database.open(config.database, new SystemClock());
  const builder = Test.createTestingModule({
    imports: [AppModule.of(config, database, new ServerState(database))],
  })
    .overrideProvider(ModelRegistry)
    .useValue({ defaultName: model.name, modelFor: () => model } satisfies Partial<ModelRegistry>)
    .overrideProvider(ToolRegistry)
    .useValue(new PlainTools(tools));
  if (options.realIntake !== true) builder.overrideProvider(ImageIntake).useValue({ check: anyBytes });
  if (options.logger !== undefined) builder.overrideProvider(Logger).useValue(options.logger);
  const module = await builder.compile();
  const app = module.createNestApplication<NestFastifyApplication>(createHttpAdapter(config, adkUrl), {
    bodyParser: false,
  });
  await prepareHttpApp(app, config);
  await app.listen(0, '127.0.0.1');
  await app.get(RunsModule).startWork();
  const { port } = app.getHttpServer().address() as { port: number };
  const close = async (): Promise<void> => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, close };
}
