import { startProcess } from './processes.mjs';

/**
 * Starts the load generator.
 * @returns {Promise<Loads>}
 *
 * @typedef {object} Load what its runs were like
 * @property {number} runs
 * @property {number} wallMs from the first begin to the last end
 * @property {readonly number[]} runMs
 * @property {readonly number[]} firstMs to the first piece of text
 *
 * @typedef {object} Loads
 * @property {(job: object) => Promise<Load>} load one at a time; throws Error when a run is not whole
 * @property {(job: object) => { opened: Promise<void>, ended: Promise<Load> }} open the same for a number of runs;
 *   `opened` settles when each of them has shown text
 * @property {() => Promise<void>} stop
 */
export async function startLoads() {
  const { channel, stop } = await startProcess('bench/load/main.mjs');
  const open = (job) => {
    let hasOpened;
    const opened = new Promise((resolve) => (hasOpened = resolve));
    const ended = new Promise((resolve, reject) => {
      const settle = (result) => {
        if (result.opened) return hasOpened();
        channel.off('message', settle);
        if (result.fault === undefined) resolve(result);
        else reject(new Error(result.fault));
      };
      channel.on('message', settle);
    });
    channel.send(job);
    // A fault ends the wait for all to open, too.
    return { opened: Promise.race([opened, ended]), ended };
  };
  return { open, load: (job) => open(job).ended, stop };
}
