import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { startProcess } from './processes.mjs';

/** Every server can be told to collect its garbage: what is left is what it holds. */
const COLLECTABLE = ['--expose-gc', `--import=${new URL('./collect-on-signal.mjs', import.meta.url).href}`];

/** Everything that a measure starts; `stop` ends it, newest first, and removes its data. */
export class Servers {
  #started = [];
  #folders = [];
  #profileDir;

  /** @param {string | undefined} profileDir where the product leaves a processor profile at its end */
  constructor(profileDir) {
    this.#profileDir = profileDir;
  }

  /** A temporary folder. */
  folder() {
    const folder = mkdtempSync(`${tmpdir()}/bridle-bench-`);
    this.#folders.push(folder);
    return folder;
  }

  /** The product as built, with its own defaults, on an SQLite file of its own. */
  async product(env = {}, folder = this.folder()) {
    return this.#start('dist/main.js', {
      nodeArgs: this.#profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${this.#profileDir}`],
      env: {
        BRIDLE_SERVER_HTTP_PORT: '0',
        BRIDLE_SERVER_GRPC_PORT: '0',
        BRIDLE_SERVER_SHUTDOWN_MS: '500',
        BRIDLE_STORAGE_DIR: folder,
        BRIDLE_DATABASE_URL: `sqlite:${folder}/bridle.sqlite`,
        BRIDLE_DATABASE_SYNCHRONOUS: 'full',
        ...env,
      },
    });
  }

  /** The fake model; what the product needs to use it is in `env`. */
  async model(...args) {
    const server = await this.#start('bench/servers/fake-llm.mjs', { args });
    const url = `${server.ready.http}/v1`;
    return {
      ...server,
      url,
      env: { BRIDLE_MODEL_PROVIDER: 'openai-compatible', BRIDLE_MODEL_BASE_URL: url, BRIDLE_MODEL_NAME: 'bench' },
    };
  }

  /** `floor` or `same-rows`. */
  async peer(name, modelUrl) {
    return this.#start(`bench/servers/${name}.mjs`, { args: [`${this.folder()}/peer.sqlite`, modelUrl] });
  }

  /** A server of `bench/servers` that needs no data. */
  async plain(name, ...args) {
    return this.#start(`bench/servers/${name}.mjs`, { args });
  }

  /** Stops it together with the rest. */
  keep(stoppable) {
    this.#started.push(stoppable);
    return stoppable;
  }

  async stop() {
    for (const server of this.#started.splice(0).reverse()) await server.stop();
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }

  async #start(file, { nodeArgs = [], ...options }) {
    return this.keep(await startProcess(file, { ...options, nodeArgs: [...COLLECTABLE, ...nodeArgs] }));
  }
}
