/**
 * A gRPC client in a process of its own, to be stopped with SIGSTOP: a client that only pauses its stream goes on
 * reading from the socket. It opens one server stream and prints one line of JSON for each message and for the end.
 * A list of requests opens a stream for each; every line then has the number of its stream.
 *
 * `node stalled-grpc-client.mjs 127.0.0.1:50051 Observe '{"session_id":"S1","run_id":"R1"}' [bearer key]`
 */
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const [address, method, requestText, key] = process.argv.slice(2);
const definition = loadSync('harness/v1/agent_harness.proto', {
  keepCase: true,
  longs: String,
  includeDirs: [fileURLToPath(new URL('../../proto', import.meta.url))],
});
const { AgentHarness } = loadPackageDefinition(definition).harness.v1;
const client = new AgentHarness(address, credentials.createInsecure());
const metadata = new Metadata();
if (key) metadata.set('authorization', `Bearer ${key}`);

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function read(request, label) {
  const stream = client[method](request, metadata);
  stream.on('data', ({ id, type }) => print({ ...label, id, type }));
  stream.on('error', () => undefined);
  return new Promise((resolve) => {
    stream.on('status', ({ code, details }) => {
      print({ ...label, code, details });
      resolve();
    });
  });
}

const asked = JSON.parse(requestText);
if (Array.isArray(asked)) await Promise.all(asked.map((request, stream) => read(request, { stream })));
else await read(asked, {});
client.close();
