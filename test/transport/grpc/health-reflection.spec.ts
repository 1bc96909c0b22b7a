import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { credentials, loadPackageDefinition, status as Status, type Client, type GrpcObject } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { protoPath as healthProto } from 'grpc-health-check';
import { GrpcHealth } from '../../../src/transport/grpc/grpc-health.js';
import { startGrpcApp, type RunningGrpcApp } from '../../support/grpc-app.js';
import { grpcConfig } from '../../support/grpc-fixtures.js';

const REFLECTION_PROTO = join(
  dirname(createRequire(import.meta.url).resolve('@grpc/reflection')),
  '../proto/grpc/reflection/v1/reflection.proto',
);

type AnyClient = Client & Record<string, (...args: unknown[]) => unknown>;

function clientOf(proto: string, path: readonly string[], address: string): AnyClient {
  const root: unknown = loadPackageDefinition(loadSync(proto, { keepCase: true, enums: String, oneofs: true }));
  const service = path.reduce((object, name) => (object as GrpcObject)[name], root);
  return new (service as new (...args: unknown[]) => AnyClient)(address, credentials.createInsecure());
}

describe('the standard services', () => {
  let running: RunningGrpcApp;

  beforeAll(async () => {
    running = await startGrpcApp(grpcConfig(), {});
  });

  afterAll(() => running.close());

  describe('health', () => {
    let client: AnyClient;

    beforeAll(() => {
      client = clientOf(healthProto, ['grpc', 'health', 'v1', 'Health'], running.address);
    });

    afterAll(() => client.close());

    const check = (service: string): Promise<unknown> =>
      new Promise((resolve) => {
        client['check']?.({ service }, (error: { code: number } | null, answer: { status: string }) =>
          resolve(error ? error.code : answer.status),
        );
      });

    it('serves without a key, as a whole and for our service', async () => {
      expect(await check('')).toBe('SERVING');
      expect(await check('harness.v1.AgentHarness')).toBe('SERVING');
      expect(await check('nobody')).toBe(Status.NOT_FOUND);
    });

    it('stops serving when the process begins to stop', async () => {
      running.app.get(GrpcHealth, { strict: false }).onModuleDestroy();
      expect(await check('')).toBe('NOT_SERVING');
      expect(await check('harness.v1.AgentHarness')).toBe('NOT_SERVING');
    });
  });

  describe('reflection', () => {
    let client: AnyClient;

    beforeAll(() => {
      client = clientOf(REFLECTION_PROTO, ['grpc', 'reflection', 'v1', 'ServerReflection'], running.address);
    });

    afterAll(() => client.close());

    interface Answer {
      readonly list_services_response?: { readonly service: readonly { readonly name: string }[] };
      readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Buffer[] };
    }

    const ask = (request: object): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const call = client['serverReflectionInfo']?.() as {
          on(name: string, listener: (value: never) => void): void;
          write(value: object): void;
          end(): void;
        };
        call.on('data', (answer: Answer) => resolve(answer));
        call.on('error', (error: Error) => reject(error));
        call.write(request);
        call.end();
      });

    it('lists our service', async () => {
      const { list_services_response: list } = await ask({ list_services: '' });
      expect(list?.service.map(({ name }) => name)).toContain('harness.v1.AgentHarness');
    });

    it('describes the messages with the names of the proto files', async () => {
      const { file_descriptor_response: found } = await ask({ file_containing_symbol: 'harness.v1.Action' });
      const files = (found?.file_descriptor_proto ?? []).map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
      const action = files.flatMap(({ messageType }) => messageType).find(({ name }) => name === 'Action');
      expect(action?.field.map(({ name }) => name)).toEqual([
        'session_id',
        'request_id',
        'message',
        'answer',
        'steer',
        'cancel',
      ]);
    });
  });
});
