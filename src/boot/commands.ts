import { SystemClock } from '../common/clock.js';
import { ConfigError } from '../config/config-error.js';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { Database } from '../database/database.js';
import { FileInUseError } from '../database/lock-file.js';
import { HarnessService } from '../harness/harness.service.js';
import { Logger } from '../observability/logger.js';
import { RunWorker } from '../runs/queue/run-worker.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PRODUCT_VERSION } from '../config/product-version.js';
import type { Check } from './check.js';
import { say, sayChecks, sayReady, sayWarning } from './console.js';
import { firstLookCurl } from './first-look.js';
import { createApp, listen, type RunningServer } from './http-server.js';
import { ProcessFaults } from './process-faults.js';
import { ServerState } from './server-state.js';
import { checkDatabase, checkMachine } from './start-up-checks.js';

/** How long the doors and the database may take to close once the runs were handed back, milliseconds. */
const STOP_MARGIN_MS = 8000;

/** `npm start`: checks, migrates, listens, works, until a signal ends it. */
export async function serve(): Promise<void> {
  const { config, warnings } = loadConfig();
  for (const warning of warnings) sayWarning(warning);
  const database = await openChecked(config);
  const state = new ServerState(database);
  const app = await createApp(config, database, state);
  const logger = app.get(Logger);
  const handBack = (): Promise<void> => {
    state.draining();
    return app.get(RunWorker, { strict: false }).stop(0);
  };
  new ProcessFaults(handBack, logger).watch();
  const server = await listen(app, config);
  endOnSignal(server, state, logger, config.server.shutdownMs);
  await announce(config, database, server);
  state.ready();
}

/** `npm run migrate`: brings the schema up to date and ends. */
export async function migrate(): Promise<void> {
  const { config } = loadConfig();
  const database = await openChecked(config);
  await database.close();
  say('the schema is up to date');
}

/** `npm run doctor`: the start-up checks alone, without changing the schema; exit code 1 when one is red. */
export async function doctor(): Promise<void> {
  const { config } = loadConfig();
  const checks = checkMachine(config);
  if (checks.every((check) => check.isGood)) checks.push(...(await examineDatabase(config)));
  sayChecks(checks);
  process.exitCode = checks.every((check) => check.isGood) ? 0 : 1;
}

async function examineDatabase(config: Config): Promise<readonly Check[]> {
  let database: Database;
  try {
    database = await connect(config);
  } catch (error) {
    return [{ name: 'database', isGood: false, text: error instanceof Error ? error.message : String(error) }];
  }
  try {
    return await checkDatabase(database, config, new SystemClock());
  } finally {
    await database.close();
  }
}

/** Checks first and migrates then: a database that is refused stays as it is. */
async function openChecked(config: Config): Promise<Database> {
  sayChecks(mustBeGood(checkMachine(config)));
  const database = await connect(config);
  try {
    sayChecks(mustBeGood(await checkDatabase(database, config, new SystemClock())));
    await database.migrate();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

async function connect(config: Config): Promise<Database> {
  try {
    return await Database.connect(config.database, new SystemClock());
  } catch (error) {
    if (error instanceof FileInUseError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the database cannot be opened: ${reason}`, { cause: error });
  }
}

function mustBeGood(checks: readonly Check[]): readonly Check[] {
  const bad = checks.find((check) => !check.isGood);
  if (bad === undefined) return checks;
  sayChecks(checks);
  const text = `start-up check failed: ${bad.name}: ${bad.text}`;
  throw bad.isConfiguration === true ? new ConfigError(text) : new Error(text);
}

async function announce(config: Config, database: Database, { app, http, grpc }: RunningServer): Promise<void> {
  const model = app.get(HarnessService, { strict: false }).defaultModel;
  const docs = config.docs.enabled && grpc !== undefined ? `${http}/docs` : undefined;
  say(`  http      ${http}`);
  if (grpc !== undefined) say(`  grpc      ${grpc}`);
  if (docs !== undefined) say(`  docs      ${docs}`);
  say(`  model     ${model}${model === 'offline' ? ' (no provider key is set: it measures, it does not think)' : ''}`);
  say(`  database  ${database.kind}`);
  if (config.auth.mode === 'none' && grpc !== undefined) {
    say('\nTry it: a picture in, an answer out\n');
    say(await firstLookCurl(app.get(SessionsService, { strict: false }), http));
    say('');
  }
  sayReady({
    http,
    ...(grpc === undefined ? {} : { grpc }),
    ...(docs === undefined ? {} : { docs }),
    model,
    database: database.kind,
    role: config.server.role,
    version: PRODUCT_VERSION,
  });
}

/**
 * The first signal stops gracefully; a second one ends at once, and nothing committed is lost. A stop that hangs is
 * ended too.
 */
function endOnSignal({ app }: RunningServer, state: ServerState, logger: Logger, shutdownMs: number): void {
  let isStopping = false;
  const stop = (signal: string): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    state.draining();
    logger.info('stopping', { signal });
    const limitMs = shutdownMs + STOP_MARGIN_MS;
    setTimeout(() => {
      logger.error('the stop took too long', { limitMs });
      process.exit(1);
    }, limitMs).unref();
    app.close().then(
      () => process.exit(), // 0, but for a fault meanwhile
      (error: unknown) => {
        logger.error('the stop was not clean', { error });
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal));
}
