import { once } from 'node:events';
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
 * @property {() => Promise<void>} stop
 */
export async function startLoads() {
  const generator = await startProcess('bench/load/main.mjs');
  return {
    async load(job) {
      const answered = once(generator.channel, 'message');
      generator.channel.send(job);
      const [result] = await answered;
      if (result.fault !== undefined) throw new Error(result.fault);
      return result;
    },
    stop: generator.stop,
  };
}
