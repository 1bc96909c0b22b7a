/**
 * A gRPC client in a process of its own, to be stopped with SIGSTOP: a client that only pauses its stream goes on
 * reading from the socket. It opens one server stream and prints one line of JSON for each message and for the end.
 *
 * `node stalled-grpc-client.mjs 127.0.0.1:50051 Observe '{"session_id":"S1","run_id":"R1"}' [bearer key]`
 */
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const [address, method, request, key] = process.argv.slice(2);
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
const stream = client[method](JSON.parse(request), metadata);
stream.on('data', ({ id, type }) => print({ id, type }));
stream.on('error', () => undefined);
stream.on('status', ({ code, details }) => {
  print({ code, details });
  client.close();
});
