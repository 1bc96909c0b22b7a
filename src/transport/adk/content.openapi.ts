/** A JSON schema of the document. */
export type Schema = Readonly<Record<string, unknown>>;

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const OBJECT: Schema = { additionalProperties: true, type: 'object' };
const BYTES: Schema = { type: 'string', contentEncoding: 'base64', contentMediaType: 'application/octet-stream' };

/** `mimeType` becomes `Mimetype`, `user_id` becomes `Userid`: the titles that clients of this wire know. */
const titleOf = (name: string): string => {
  const letters = name.replaceAll('_', '');
  return letters.charAt(0).toUpperCase() + letters.slice(1).toLowerCase();
};

const titled = (name: string, schema: Schema): Schema => ({ ...schema, title: titleOf(name) });

/** Fields that may be null or absent; a reference has the title of what it names. */
function optional(fields: Readonly<Record<string, Schema>>): Schema {
  const properties = Object.entries(fields).map(([name, schema]) => [
    name,
    '$ref' in schema ? orNull(schema) : titled(name, orNull(schema)),
  ]);
  return Object.fromEntries(properties) as Schema;
}

/** An object of optional fields and no others. */
const message = (title: string, fields: Readonly<Record<string, Schema>>): Schema => ({
  properties: optional(fields),
  additionalProperties: false,
  type: 'object',
  title,
});

const names = (title: string, prefix: string, ...values: readonly string[]): Schema => ({
  type: 'string',
  enum: values.map((value) => prefix + value),
  title,
});

const listOf = (item: Schema): Schema => ({ items: item, type: 'array' });

const FILE = { fileUri: TEXT, mimeType: TEXT, displayName: TEXT };
const INLINE = { mimeType: TEXT, data: BYTES, displayName: TEXT };
const SOURCE = { inlineData: ref('FunctionResponseBlob'), fileData: ref('FunctionResponseFileData') };

const PART = {
  mediaResolution: ref('PartMediaResolution'),
  codeExecutionResult: ref('CodeExecutionResult'),
  executableCode: ref('ExecutableCode'),
  fileData: ref('FileData'),
  functionCall: ref('FunctionCall'),
  functionResponse: ref('FunctionResponse-Input'),
  inlineData: ref('Blob'),
  text: TEXT,
  thought: FLAG,
  thoughtSignature: BYTES,
  videoMetadata: ref('VideoMetadata'),
  toolCall: ref('ToolCall'),
  toolResponse: ref('ToolResponse'),
  partMetadata: OBJECT,
};

const FUNCTION_CALL = {
  id: TEXT,
  args: OBJECT,
  name: TEXT,
  partialArgs: listOf(ref('PartialArg')),
  willContinue: FLAG,
};

const PARTIAL_ARG = {
  boolValue: FLAG,
  jsonPath: TEXT,
  nullValue: { type: 'string', const: 'NULL_VALUE' },
  numberValue: { type: 'number' },
  stringValue: TEXT,
  willContinue: FLAG,
};

const FUNCTION_RESPONSE = {
  willContinue: FLAG,
  scheduling: ref('FunctionResponseScheduling'),
  parts: listOf(ref('FunctionResponsePart')),
  id: TEXT,
  name: TEXT,
  response: OBJECT,
};

/** What a message of the ADK wire may hold. */
export const CONTENT_SCHEMAS: Readonly<Record<string, Schema>> = {
  'Content-Input': message('Content', { parts: listOf(ref('Part-Input')), role: TEXT }),
  'Part-Input': message('Part', PART),
  PartMediaResolution: message('PartMediaResolution', {
    level: ref('PartMediaResolutionLevel'),
    numTokens: { type: 'integer' },
  }),
  CodeExecutionResult: message('CodeExecutionResult', { outcome: ref('Outcome'), output: TEXT, id: TEXT }),
  ExecutableCode: message('ExecutableCode', { code: TEXT, language: ref('Language'), id: TEXT }),
  FileData: message('FileData', FILE),
  FunctionCall: message('FunctionCall', FUNCTION_CALL),
  'FunctionResponse-Input': message('FunctionResponse', FUNCTION_RESPONSE),
  Blob: message('Blob', INLINE),
  VideoMetadata: message('VideoMetadata', { endOffset: TEXT, fps: { type: 'number' }, startOffset: TEXT }),
  ToolCall: message('ToolCall', { id: TEXT, toolType: ref('ToolType'), args: OBJECT }),
  ToolResponse: message('ToolResponse', { id: TEXT, toolType: ref('ToolType'), response: OBJECT }),
  PartialArg: message('PartialArg', PARTIAL_ARG),
  FunctionResponsePart: message('FunctionResponsePart', SOURCE),
  FunctionResponseBlob: message('FunctionResponseBlob', INLINE),
  FunctionResponseFileData: message('FunctionResponseFileData', FILE),
  PartMediaResolutionLevel: names(
    'PartMediaResolutionLevel',
    'MEDIA_RESOLUTION_',
    'UNSPECIFIED',
    'LOW',
    'MEDIUM',
    'HIGH',
    'ULTRA_HIGH',
  ),
  Outcome: names('Outcome', 'OUTCOME_', 'UNSPECIFIED', 'OK', 'FAILED', 'DEADLINE_EXCEEDED'),
  Language: names('Language', '', 'LANGUAGE_UNSPECIFIED', 'PYTHON'),
  FunctionResponseScheduling: names(
    'FunctionResponseScheduling',
    '',
    'SCHEDULING_UNSPECIFIED',
    'SILENT',
    'WHEN_IDLE',
    'INTERRUPT',
  ),
  ToolType: names(
    'ToolType',
    '',
    'TOOL_TYPE_UNSPECIFIED',
    'GOOGLE_SEARCH_WEB',
    'GOOGLE_SEARCH_IMAGE',
    'URL_CONTEXT',
    'GOOGLE_MAPS',
    'FILE_SEARCH',
  ),
};

const NAME: Schema = { type: 'string', default: '' };
const AT_LEAST_ONE: Schema = { type: 'integer', minimum: 1 };

/** `system_prompt` becomes `System Prompt`. */
const wordsOf = (name: string): string =>
  name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');

const inWords = (fields: Readonly<Record<string, Schema>>): Schema =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, { ...schema, title: wordsOf(name) }]));

const OVERRIDES = {
  model_name: NAME,
  tools: NAME,
  mcp_servers: listOf(ref('McpServerConfig')),
  skills: NAME,
  system_prompt: NAME,
  runtime: { type: 'string', enum: ['adk', 'codex'], default: 'adk' },
  registry_space_id: NAME,
  registry_endpoint: NAME,
  registry_region: NAME,
  registry_top_k: { ...AT_LEAST_ONE, default: 3 },
  max_llm_calls: orNull(AT_LEAST_ONE),
};

const MCP_SERVER = {
  protocol: { type: 'string', enum: ['streamable-http', 'sse'], default: 'streamable-http' },
  endpoint: TEXT,
  api_key: orNull({ type: 'string', format: 'password', writeOnly: true }),
};

/** The body of `POST /run_sse`. */
export const REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
  HarnessRunSseRequest: {
    properties: {
      ...optional({ app_name: TEXT }),
      user_id: titled('user_id', TEXT),
      session_id: titled('session_id', TEXT),
      ...optional({ new_message: ref('Content-Input') }),
      streaming: titled('streaming', { type: 'boolean', default: false }),
      ...optional({ state_delta: OBJECT, function_call_event_id: TEXT, invocation_id: TEXT, custom_metadata: OBJECT }),
      harness: ref('HarnessOverrides'),
      max_llm_calls: orNull(AT_LEAST_ONE),
    },
    type: 'object',
    required: ['app_name', 'user_id', 'session_id'],
    title: 'HarnessRunSseRequest',
  },
  HarnessOverrides: { properties: inWords(OVERRIDES), type: 'object', title: 'HarnessOverrides' },
  McpServerConfig: {
    properties: inWords(MCP_SERVER),
    additionalProperties: false,
    type: 'object',
    required: ['endpoint'],
    title: 'McpServerConfig',
  },
};
