import { Content } from './content.dto.js';
import { sessionId, userId } from './id.rules.js';
import { endpoint, secretLine, servers } from './mcp-server.rules.js';
import { flag, literal, map, positive, text } from './validation/kinds.js';
import { Closed, Field, Nested, NestedList } from './validation/model.js';

@Closed()
export class McpServerConfig {
  @Field(literal('streamable-http', 'sse'), { nullable: false }) protocol?: string;
  @Field(endpoint, { required: true }) endpoint!: string;
  @Field(secretLine) api_key?: string | null;
}

/** Overrides for one call, in snake_case only; unknown keys are ignored. */
export class HarnessOverrides {
  @Field(text, { nullable: false }) model_name?: string;
  @Field(text, { nullable: false }) tools?: string;
  @NestedList(() => McpServerConfig, { nullable: false, secret: true }, servers) mcp_servers?: McpServerConfig[];
  @Field(text, { nullable: false }) skills?: string;
  @Field(text, { nullable: false }) system_prompt?: string;
  @Field(literal('adk', 'codex'), { nullable: false }) runtime?: string;
  @Field(text, { nullable: false }) registry_space_id?: string;
  @Field(text, { nullable: false }) registry_endpoint?: string;
  @Field(text, { nullable: false }) registry_region?: string;
  @Field(positive, { nullable: false }) registry_top_k?: number;
  @Field(positive) max_llm_calls?: number | null;
}

/** Body of `POST /run_sse`. The order of the fields is the order of its issues. */
export class RunSseRequest {
  @Field(text, { required: true, nullable: true, missingAs: 'app_name' }) appName!: string | null;
  @Field(userId, { required: true }) userId!: string;
  @Field(sessionId, { required: true }) sessionId!: string;
  @Nested(() => Content) newMessage?: Content | null;
  @Field(flag, { nullable: false }) streaming?: boolean;
  @Field(map) stateDelta?: object | null;
  /** Accepted and ignored. */
  @Field(text) functionCallEventId?: string | null;
  @Field(text) invocationId?: string | null;
  /** Accepted and ignored. */
  @Field(map) customMetadata?: object | null;
  @Nested(() => HarnessOverrides) harness?: HarnessOverrides | null;
  @Field(positive) maxLlmCalls?: number | null;
}
