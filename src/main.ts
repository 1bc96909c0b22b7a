import 'reflect-metadata';
import { ConfigError } from './config/config-error.js';
import { FileInUseError } from './database/lock-file.js';
import { doctor, migrate, serve } from './boot/commands.js';

/** Exit codes of the operations contract: configuration, a service that does not answer, anything else. */
function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return 78;
  const code = (error as { code?: string }).code ?? '';
  return error instanceof FileInUseError || /^(ECONN|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ER_ACCESS)/.test(code) ? 69 : 1;
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { serve, migrate, doctor };

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
