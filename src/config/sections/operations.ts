import { z } from 'zod';
import { oneOf, text } from '../leaf.js';

export const log = z.strictObject({
  level: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  format: oneOf(['auto', 'pretty', 'json']),
});

export const agents = z.strictObject({ dir: text('the path of a folder') });
