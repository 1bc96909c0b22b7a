import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { AgentHarnessService } from './generated/harness/v1/agent_harness.js';

export const GRPC_PACKAGE = 'harness.v1';
export const GRPC_SERVICE = 'AgentHarness';
/** The service's full name, as health and reflection use it. */
export const GRPC_SERVICE_NAME = `${GRPC_PACKAGE}.${GRPC_SERVICE}`;

/** Refuses text that is not UTF-8; a lenient reader would put replacement characters in its place. */
class StrictReader extends BinaryReader {
  override string(): string {
    return super.string(true);
  }
}

type Method = MethodDefinition<object, object>;

function strict(method: Method): Method {
  // The generated decoders take a reader as well as bytes.
  const decode = method.requestDeserialize as (input: Buffer | BinaryReader) => object;
  return { ...method, requestDeserialize: (bytes) => decode(new StrictReader(bytes)) };
}

/**
 * The service for Nest, made of the generated code: the dynamic loader would lose what is inside a Struct.
 * Keys are the names on the wire (`CreateSession`).
 */
export function serviceDefinition(): Record<string, ServiceDefinition<UntypedServiceImplementation>> {
  const methods = Object.values(AgentHarnessService) as readonly unknown[] as readonly Method[];
  return {
    [GRPC_SERVICE_NAME]: Object.fromEntries(
      methods.map((method) => [method.path.slice(method.path.lastIndexOf('/') + 1), strict(method)]),
    ),
  };
}
