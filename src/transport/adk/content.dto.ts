import { bytes, flag, map, number, text, whole } from './validation/kinds.js';
import { Closed, Field, Nested, NestedList } from './validation/model.js';

@Closed()
export class PartMediaResolution {
  @Field(text) level?: string | null;
  @Field(whole) numTokens?: number | null;
}

@Closed()
export class CodeExecutionResult {
  @Field(text) outcome?: string | null;
  @Field(text) output?: string | null;
  @Field(text) id?: string | null;
}

@Closed()
export class ExecutableCode {
  @Field(text) code?: string | null;
  @Field(text) language?: string | null;
  @Field(text) id?: string | null;
}

@Closed()
export class FileData {
  @Field(text) displayName?: string | null;
  @Field(text) fileUri?: string | null;
  @Field(text) mimeType?: string | null;
}

@Closed()
export class PartialArg {
  @Field(flag) boolValue?: boolean | null;
  @Field(text) jsonPath?: string | null;
  @Field(text) nullValue?: string | null;
  @Field(number) numberValue?: number | null;
  @Field(text) stringValue?: string | null;
  @Field(flag) willContinue?: boolean | null;
}

@Closed()
export class FunctionCall {
  @Field(text) id?: string | null;
  @Field(map) args?: object | null;
  @Field(text) name?: string | null;
  @NestedList(() => PartialArg) partialArgs?: PartialArg[] | null;
  @Field(flag) willContinue?: boolean | null;
}

@Closed()
export class FunctionResponseBlob {
  @Field(text) mimeType?: string | null;
  @Field(bytes) data?: string | null;
  @Field(text) displayName?: string | null;
}

@Closed()
export class FunctionResponseFileData {
  @Field(text) fileUri?: string | null;
  @Field(text) mimeType?: string | null;
  @Field(text) displayName?: string | null;
}

@Closed()
export class FunctionResponsePart {
  @Nested(() => FunctionResponseBlob) inlineData?: FunctionResponseBlob | null;
  @Nested(() => FunctionResponseFileData) fileData?: FunctionResponseFileData | null;
}

@Closed()
export class FunctionResponse {
  @Field(flag) willContinue?: boolean | null;
  @Field(text) scheduling?: string | null;
  @NestedList(() => FunctionResponsePart) parts?: FunctionResponsePart[] | null;
  @Field(text) id?: string | null;
  @Field(text) name?: string | null;
  @Field(map) response?: object | null;
}

@Closed()
export class Blob {
  /** URL-safe base64 with padding, whatever the client's form was. */
  @Field(bytes) data?: string | null;
  @Field(text) displayName?: string | null;
  @Field(text) mimeType?: string | null;
}

@Closed()
export class VideoMetadata {
  @Field(text) endOffset?: string | null;
  @Field(number) fps?: number | null;
  @Field(text) startOffset?: string | null;
}

@Closed()
export class ToolCall {
  @Field(text) id?: string | null;
  @Field(text) toolType?: string | null;
  @Field(map) args?: object | null;
}

@Closed()
export class ToolResponse {
  @Field(text) id?: string | null;
  @Field(text) toolType?: string | null;
  @Field(map) response?: object | null;
}

/** One piece of a message. That exactly one kind is set is not checked, as in the peer. */
@Closed()
export class Part {
  @Nested(() => PartMediaResolution) mediaResolution?: PartMediaResolution | null;
  @Nested(() => CodeExecutionResult) codeExecutionResult?: CodeExecutionResult | null;
  @Nested(() => ExecutableCode) executableCode?: ExecutableCode | null;
  @Nested(() => FileData) fileData?: FileData | null;
  @Nested(() => FunctionCall) functionCall?: FunctionCall | null;
  @Nested(() => FunctionResponse) functionResponse?: FunctionResponse | null;
  @Nested(() => Blob) inlineData?: Blob | null;
  @Field(text) text?: string | null;
  @Field(flag) thought?: boolean | null;
  @Field(bytes) thoughtSignature?: string | null;
  @Nested(() => VideoMetadata) videoMetadata?: VideoMetadata | null;
  @Nested(() => ToolCall) toolCall?: ToolCall | null;
  @Nested(() => ToolResponse) toolResponse?: ToolResponse | null;
  @Field(map) partMetadata?: object | null;
}

@Closed()
export class Content {
  @NestedList(() => Part) parts?: Part[] | null;
  @Field(text) role?: string | null;
}
