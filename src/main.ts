import 'reflect-metadata';
import { ConfigError } from './config/config-error.js';
import { FileInUseError } from './database/lock-file.js';
import { doctor, migrate, serve } from './boot/commands.js';

/** How a service says that it is not there, or not for us. */
const NO_SERVICE =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|PROTOCOL_CONNECTION_LOST|ER_ACCESS|ER_CON_COUNT)/;

/** Exit codes of the operations contract: configuration, a service that does not answer, anything else. */
function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return 78;
  if (error instanceof FileInUseError) return 69;
  return [error, (error as Error).cause].some((one) => NO_SERVICE.test(codeOf(one))) ? 69 : 1;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { serve, migrate, doctor };

// What this process writes (rows, pictures, keys) is for its owner alone.
process.umask(0o077);

const name = process.argv[2] ?? 'serve';
const command = COMMANDS[name];
if (command === undefined) {
  process.stderr.write(`unknown command ${name}; accepted are ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exit(1);
}
try {
  await command();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(exitCodeOf(error));
}
