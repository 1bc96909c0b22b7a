import 'reflect-metadata';
import { ConfigError } from './config/config-error.js';
import { isUnavailable } from './database/database-errors.js';
import { FileInUseError } from './database/lock-file.js';
import { doctor, migrate, serve } from './boot/commands.js';

/** Exit codes of the operations contract: configuration, a service that does not answer, anything else. */
function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return 78;
  if (error instanceof FileInUseError) return 69;
  return [error, (error as Error).cause].some(isUnavailable) ? 69 : 1;
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
