import { randomUUID } from 'node:crypto';
import { credentials, makeGenericClientConstructor, Metadata } from '@grpc/grpc-js';
import { AgentHarnessService } from '../../dist/transport/grpc/generated/harness/v1/agent_harness.js';
import { checkWhole } from './whole.mjs';

const Client = makeGenericClientConstructor(AgentHarnessService, 'harness.v1.AgentHarness');
const clients = new Map();

/** The same run as over SSE: a new session, then `SubmitAndObserve`; one connection for all runs, as HTTP/2 is used. */
export async function runOverGrpc({ target, text = 'Hello', expected }) {
  const client = clientOf(target);
  const startedAt = performance.now();
  const session = await new Promise((resolve, reject) => {
    client.createSession({ agent: 'harness_agent', capabilities: [] }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
  const sentAt = performance.now();
  const seen = { text: '', firstAt: undefined, last: undefined };
  const message = { text, resources: [], capabilities: [] };
  const action = { session_id: session.id, request_id: randomUUID(), action: { $case: 'message', value: message } };
  const stream = client.submitAndObserve(action, new Metadata());
  await new Promise((resolve, reject) => {
    stream.on('data', (event) => {
      seen.last = event.type;
      if (event.type !== 'run.message_delta') return;
      seen.firstAt ??= performance.now();
      seen.text += event.data.text;
    });
    stream.once('end', resolve);
    stream.once('error', reject);
  });
  checkWhole(seen, expected, 'run.completed');
  return { runMs: performance.now() - startedAt, firstMs: seen.firstAt - sentAt };
}

function clientOf(target) {
  if (!clients.has(target)) clients.set(target, new Client(target, credentials.createInsecure()));
  return clients.get(target);
}
