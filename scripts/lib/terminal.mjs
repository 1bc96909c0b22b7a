const isTerminal = process.stderr.isTTY === true;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const PLAIN_EVERY_MS = 15_000;

export const say = (line) => process.stderr.write(`${line}\n`);
export const green = (text) => (isTerminal ? `\x1b[32m${text}\x1b[0m` : text);
export const red = (text) => (isTerminal ? `\x1b[31m${text}\x1b[0m` : text);

const seconds = (sinceMs) => `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;

/**
 * Shows one line while `work` runs: a spinner with the elapsed time on a terminal, plain lines elsewhere.
 * @template T
 * @param {string} label what is being done, e.g. `building`
 * @param {() => Promise<T & { ok: boolean }>} work
 * @returns {Promise<T & { ok: boolean }>}
 */
export async function phase(label, work) {
  const startedMs = Date.now();
  const stop = isTerminal ? spin(label, startedMs) : tick(label, startedMs);
  try {
    const result = await work();
    stop();
    say(`${result.ok ? green('✓') : red('✗')} ${label} (${seconds(startedMs)})`);
    return result;
  } catch (error) {
    stop();
    say(`${red('✗')} ${label} (${seconds(startedMs)})`);
    throw error;
  }
}

function spin(label, startedMs) {
  let frame = 0;
  const timer = setInterval(() => {
    process.stderr.write(`\r\x1b[K${FRAMES[frame++ % FRAMES.length]} ${label} ${seconds(startedMs)}`);
  }, 100);
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\x1b[K');
  };
}

function tick(label, startedMs) {
  say(`… ${label}`);
  const timer = setInterval(() => say(`… ${label}, ${seconds(startedMs)} so far`), PLAIN_EVERY_MS);
  return () => clearInterval(timer);
}
