/** `npm run build`: compiles `src` to `dist`, whatever is there already. */
import './lib/require-node.mjs';
import { build } from './lib/build.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { say } from './lib/terminal.mjs';

try {
  await installIfNeeded();
  await build();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
