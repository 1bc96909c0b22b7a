import {
  makeGenericClientConstructor,
  Metadata,
  credentials,
  type status as Status,
  type Client,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { AgentHarnessService } from '../../src/transport/grpc/generated/harness/v1/agent_harness.js';
import type { RunEvent } from '../../src/transport/grpc/generated/harness/v1/event.js';

type Methods = typeof AgentHarnessService;
type MethodName = keyof Methods;
type RequestOf<M extends MethodName> = Parameters<Methods[M]['requestSerialize']>[0];
type ResponseOf<M extends MethodName> = ReturnType<Methods[M]['responseDeserialize']>;
type StreamName = 'submitAndObserve' | 'observe';

const HarnessClient = makeGenericClientConstructor(AgentHarnessService, 'harness.v1.AgentHarness');

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller gives up after so many milliseconds. */
  readonly deadlineMs?: number;
}

/** How a call ended, as its caller sees it. */
export interface CallEnd {
  readonly code: Status;
  readonly details: string;
  /** The trailer `bridle-code`. */
  readonly bridleCode: string | undefined;
}

/** A real client of the service, for tests. */
export class GrpcTestClient {
  private readonly client: Client;

  constructor(
    address: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {
    this.client = new HarnessClient(address, credentials.createInsecure());
  }

  /** The answer of a unary call; rejects with the `ServiceError`. */
  call<M extends Exclude<MethodName, StreamName>>(
    method: M,
    request: RequestOf<M>,
    { headers = {}, deadlineMs }: CallOptions = {},
  ): Promise<ResponseOf<M>> {
    const { path, requestSerialize, responseDeserialize } = AgentHarnessService[method];
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(
        path,
        requestSerialize as (value: RequestOf<M>) => Buffer,
        responseDeserialize as (value: Buffer) => ResponseOf<M>,
        request,
        this.metadata(headers),
        deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
        (error, value) => (error ? reject(error) : resolve(value as ResponseOf<M>)),
      );
    });
  }

  /** A unary call with any bytes in place of a message. */
  sendBytes(path: string, bytes: Buffer): Promise<CallEnd> {
    return new Promise((resolve) => {
      const same = (value: Buffer): Buffer => value;
      this.client.makeUnaryRequest(path, same, same, bytes, this.metadata({}), (error) =>
        resolve(error ? endOf(error) : { code: 0, details: '', bridleCode: undefined }),
      );
    });
  }

  stream<M extends StreamName>(
    method: M,
    request: RequestOf<M>,
    headers: Readonly<Record<string, string>> = {},
  ): ClientReadableStream<RunEvent> {
    const { path, requestSerialize, responseDeserialize } = AgentHarnessService[method];
    return this.client.makeServerStreamRequest(
      path,
      requestSerialize as (value: RequestOf<M>) => Buffer,
      responseDeserialize,
      request,
      this.metadata(headers),
    );
  }

  close(): void {
    this.client.close();
  }

  private metadata(headers: Readonly<Record<string, string>>): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries({ ...this.headers, ...headers })) metadata.set(name, value);
    return metadata;
  }
}

/** How a failed call ended. */
export function endOf(error: unknown): CallEnd {
  const { code, details, metadata } = error as ServiceError;
  return { code, details, bridleCode: metadata.get('bridle-code')[0] as string | undefined };
}

/** How the call ends that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<CallEnd> {
  try {
    await call;
  } catch (error) {
    return endOf(error);
  }
  throw new Error('the call did not fail');
}

/** Every event of a stream and how it ended; code 0 is OK. */
export async function readAll(stream: ClientReadableStream<RunEvent>): Promise<{ events: RunEvent[]; end: CallEnd }> {
  const events: RunEvent[] = [];
  stream.on('data', (event: RunEvent) => events.push(event));
  const end = await new Promise<CallEnd>((resolve) => {
    stream.on('error', () => undefined);
    stream.on('status', (status) => resolve(endOf(status)));
  });
  return { events, end };
}
