import { z } from 'zod';
import { badFrame, reportedError } from '../provider/provider-faults.js';

const count = z.number().int().nonnegative().nullish().catch(undefined);

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
  prompt_cache_hit_tokens: count,
  cache_creation_input_tokens: count,
});

const callFragment = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
});

const message = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(callFragment).nullish(),
});

const chunk = z.object({
  model: z.string().nullish(),
  choices: z
    .array(z.object({ delta: message.nullish(), message: message.nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: usage.nullish().catch(undefined),
  error: z.unknown().optional(),
  object: z.unknown().optional(),
});

/** One frame of the stream, as far as it is read; a whole completion has the same shape. */
export type Chunk = z.infer<typeof chunk>;
/** A piece of a tool call; each field may be missing. */
export type CallFragment = z.infer<typeof callFragment>;
/** Tokens as providers count them. */
export type UsageFields = z.infer<typeof usage>;

/**
 * Reads one frame.
 * @throws ProviderError `bad_frame` when it is not what the wire prescribes; what the provider reports as an error
 */
export function parseChunk(data: string): Chunk {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch (cause) {
    throw badFrame(cause);
  }
  const parsed = chunk.safeParse(json);
  if (!parsed.success) throw badFrame(parsed.error);
  const reported = parsed.data.error ?? (parsed.data.object === 'error' ? json : undefined);
  if (reported !== undefined) throw reportedError(reported);
  return parsed.data;
}
