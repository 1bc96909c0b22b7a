/**
 * `npm run test:chaos`: kills, holds and starts again processes and their database under load, then checks every log.
 *
 *   npm run test:chaos                    each scenario once, at its full count
 *   npm run test:chaos -- --minutes 20    random scenarios, drawn by the seed that is printed, until the time is over
 *   npm run test:chaos -- --seed 7        what is random goes as it went with this seed
 */
import './lib/require-node.mjs';
import { buildIfNeeded } from './lib/build.mjs';
import { exitCodeOf, stopChildren } from './lib/child.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { runRing } from './lib/rings.mjs';
import { red, say } from './lib/terminal.mjs';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    stopChildren(signal);
    process.exit(exitCodeOf(signal));
  });
}

/**
 * Reads `--minutes N` and `--seed N`.
 * @throws Error for anything else
 */
function readOptions(args) {
  const options = { '--minutes': '0', '--seed': String(Math.floor(Math.random() * 2 ** 31)) };
  for (let index = 0; index < args.length; index += 2) {
    const [option, value = ''] = args.slice(index, index + 2);
    if (!(option in options) || !/^\d+$/.test(value)) {
      throw new Error(
        `npm run test:chaos understands --minutes and --seed with a whole number, not "${args.join(' ')}"`,
      );
    }
    options[option] = value;
  }
  return { minutes: options['--minutes'], seed: options['--seed'] };
}

try {
  const { minutes, seed } = readOptions(process.argv.slice(2));
  await installIfNeeded();
  await buildIfNeeded();
  say(`seed ${seed}`);
  const { passed, failed, faults } = await runRing('chaos', { BRIDLE_CHAOS_SEED: seed, BRIDLE_CHAOS_MINUTES: minutes });
  for (const sentence of faults) say(red(sentence));
  console.log(`${passed} passed, ${failed} failed, seed ${seed}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
} catch (error) {
  say(red(error.message));
  process.exitCode = 1;
}
