import { z } from 'zod';
import { count, flag, isBaseUrl, millis, oneOf, optionalText, text } from '../leaf.js';

export const model = z.strictObject({
  provider: oneOf(['auto', 'openai-compatible', 'ark', 'deepseek', 'qwen', 'anthropic', 'google', 'offline', 'script']),
  name: optionalText('the name of a model'),
  baseUrl: optionalText('an http or https URL', { fits: isBaseUrl }),
  apiKey: optionalText('a key in one line', { secret: 'value' }),
  firstByteMs: millis(),
  idleMs: millis(),
});

export const harness = z.strictObject({
  scriptModel: z.strictObject({ enabled: flag(), effectsFile: text('the path of a file') }),
});

export const limits = z.strictObject({
  maxTurns: count('model calls', 1),
  toolTimeoutMs: millis(),
  toolOutputChars: count('characters', 100),
  modelAttempts: count('attempts', 1, 20),
});
