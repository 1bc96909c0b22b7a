/**
 * What a run server does at least, without a framework: a session, a message whose answer is a stream of server-sent
 * events, each of them durable before it is shown. What is durable is the peer's own matter.
 */
import { createServer } from 'node:http';
import { v7 as uuid } from 'uuid';
import { GroupCommit } from './group-commit.mjs';
import { askModel } from './model-client.mjs';
import { listen } from './ready.mjs';

/**
 * @param {import('better-sqlite3').Database} database
 * @param {Rows} rows
 * @param {string} modelUrl base URL of the model
 *
 * @typedef {object} Rows statements of one peer, called inside a transaction
 * @property {(session: object) => void} session
 * @property {(run: object, events: readonly object[]) => void} begin an accepted message and its first events
 * @property {(run: object, events: readonly object[]) => void} append
 * @property {(run: object, events: readonly object[]) => void} end the last events
 */
export function servePeer(database, rows, modelUrl) {
  const commits = new GroupCommit(database);
  const routes = {
    'POST /v1/sessions': async (body, response) => {
      const session = { id: uuid(), app: body.agent, at: Date.now() };
      await commits.add(() => rows.session(session));
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(session));
    },
    'POST /v1/actions': async (body, response) => {
      await new PeerRun(commits, rows, body, response).execute(modelUrl);
    },
  };
  listen(
    createServer((request, response) => {
      void answer(routes, request, response).catch((error) => {
        process.stderr.write(`${error.stack}\n`);
        response.destroy();
      });
    }),
  );
}

async function answer(routes, request, response) {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  const route = routes[`${request.method} ${request.url}`];
  if (route === undefined) response.writeHead(404).end();
  else await route(JSON.parse(text), response);
}

class PeerRun {
  #waiting;
  #seq = 0;
  #run;

  constructor(commits, rows, body, response) {
    this.commits = commits;
    this.rows = rows;
    this.response = response;
    this.#run = { id: uuid(), sessionId: body.session_id, requestId: body.request_id, text: body.text, at: Date.now() };
  }

  async execute(modelUrl) {
    this.response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const run = this.#run;
    const first = [
      this.#event('run_queued', 'run.queued', { input: { requestId: run.requestId, text: run.text } }),
      this.#event('run_running', 'run.running', { attempt: 1 }),
      this.#event('run_start', 'run.progress', { detail: { type: 'run_start' } }),
      this.#event('reason_start', 'run.progress', { reasonId: run.id }),
    ];
    await this.commits.add(() => this.rows.begin(run, first));
    this.#show(first);
    let text = '';
    for await (const pieces of askModel(modelUrl, run.text)) {
      for (const piece of pieces) {
        text += piece;
        this.#append(
          this.#event('reason_delta', 'run.message_delta', { reasonId: run.id, channel: 'text', text: piece }),
        );
      }
    }
    await this.#waiting?.done;
    const last = [
      this.#event('reason_end', 'run.progress', { reasonId: run.id, text }),
      this.#event('run_end', 'run.progress', { text, reason: 'completed' }),
      this.#event('run_completed', 'run.completed', { result: { type: 'text', data: { text } } }),
    ];
    await this.commits.add(() => this.rows.end(run, last));
    this.#show(last);
    this.response.end();
  }

  #event(type, wire, data) {
    this.#seq += 1;
    return { seq: this.#seq, type, wire, at: Date.now(), data: JSON.stringify(data) };
  }

  /** Deltas that wait for the same commit are written and shown together; the model is not held up. */
  #append(event) {
    if (this.#waiting === undefined) {
      const events = [];
      const done = this.commits
        .add(() => {
          this.#waiting = undefined;
          this.rows.append(this.#run, events);
        })
        .then(() => this.#show(events));
      this.#waiting = { events, done };
    }
    this.#waiting.events.push(event);
  }

  #show(events) {
    const { id, sessionId } = this.#run;
    const head = `{"session_id":"${sessionId}","run_id":"${id}",`;
    this.response.write(
      events.map(({ seq, wire, data }) => `id: ${seq}\nevent: ${wire}\ndata: ${head}${data.slice(1)}\n\n`).join(''),
    );
  }
}
