import { Content } from './content.dto.js';
import { anything, flag, list, map, number, text } from './validation/kinds.js';
import { Closed, Field, Nested, NestedList } from './validation/model.js';
import { confirmations, metadata, route, sortedMetadata } from './event-kinds.js';

@Closed()
export class EventCompaction {
  @Field(number, { required: true }) startTimestamp!: number;
  @Field(number, { required: true }) endTimestamp!: number;
  @Nested(() => Content, { required: true }) compactedContent!: Content;
}

@Closed()
export class EventActionsDto {
  @Field(flag) skipSummarization?: boolean | null;
  @Field(map, { nullable: false }) stateDelta: object = {};
  @Field(map, { nullable: false }) artifactDelta: object = {};
  @Field(text) transferToAgent?: string | null;
  @Field(flag) escalate?: boolean | null;
  @Field(map, { nullable: false }) requestedAuthConfigs: object = {};
  @Field(confirmations, { nullable: false }) requestedToolConfirmations: object = {};
  @Nested(() => EventCompaction) compaction?: EventCompaction | null;
  @Field(flag) endOfAgent?: boolean | null;
  @Field(map) agentState?: object | null;
  @Field(text) rewindBeforeInvocationId?: string | null;
  @Field(route) route?: unknown;
  @Field(list) renderUiWidgets?: unknown[] | null;
  @Field(map) setModelResponse?: object | null;
}

export class NodeInfo {
  @Field(text, { nullable: false }) path: string = '';
  @Field(list) outputFor?: string[] | null;
  @Field(flag) messageAsOutput?: boolean | null;
}

/** An event that a client brings along; unknown keys are ignored. The order of the fields is the wire's. */
export class EventDto {
  @Field(text) modelVersion?: string | null;
  @Nested(() => Content) content?: Content | null;
  @Field(sortedMetadata) groundingMetadata?: object | null;
  @Field(flag) partial?: boolean | null;
  @Field(flag) turnComplete?: boolean | null;
  @Field(text) turnCompleteReason?: string | null;
  @Field(text) finishReason?: string | null;
  @Field(text) errorCode?: string | null;
  @Field(text) errorMessage?: string | null;
  @Field(flag) interrupted?: boolean | null;
  @Field(map) customMetadata?: object | null;
  @Field(sortedMetadata) usageMetadata?: object | null;
  @Field(metadata) liveSessionResumptionUpdate?: object | null;
  @Field(text) liveSessionId?: string | null;
  @Field(metadata) goAway?: object | null;
  @Field(metadata) inputTranscription?: object | null;
  @Field(metadata) outputTranscription?: object | null;
  @Field(number) avgLogprobs?: number | null;
  @Field(metadata) logprobsResult?: object | null;
  @Field(metadata) cacheMetadata?: object | null;
  @Field(sortedMetadata) citationMetadata?: object | null;
  @Field(text) interactionId?: string | null;
  @Field(text, { nullable: false }) invocationId: string = '';
  @Field(text, { nullable: false }) author: string = '';
  @Nested(() => EventActionsDto, { nullable: false }) actions?: EventActionsDto;
  @Field(anything) output?: unknown;
  @Nested(() => NodeInfo, { nullable: false }) nodeInfo?: NodeInfo;
  @Field(list) longRunningToolIds?: string[] | null;
  @Field(text) branch?: string | null;
  @Field(text) isolationScope?: string | null;
  @Field(text, { nullable: false }) id?: string;
  @Field(number, { nullable: false }) timestamp?: number;
}

/** Body of `POST …/sessions`; unknown keys are ignored. */
export class CreateSessionRequest {
  @Field(text) sessionId?: string | null;
  @Field(map) state?: object | null;
  @NestedList(() => EventDto) events?: EventDto[] | null;
  /** What Studio calls `sessionId`. */
  @Field(text) id?: string | null;
}

/** Body of `PATCH …/sessions/{id}`. */
export class UpdateSessionRequest {
  @Field(map, { required: true }) stateDelta!: object;
}
