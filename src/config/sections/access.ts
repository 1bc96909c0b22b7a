import { z } from 'zod';
import { keyEntries } from '../auth-keys.js';
import { flag, leaf, oneOf } from '../leaf.js';

export const auth = z.strictObject({
  mode: oneOf(['none', 'key'], ['oauth']),
  allowOpen: flag(),
  keys: leaf(keyEntries, {
    accepts: 'a list of `name:sha256:tenant:user`, each with `:` and scopes joined by `+` behind it if it has any',
    fromText: (text) => text.split(/[,\n]/).flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])),
    secret: 'digest',
  }),
});

export const docs = z.strictObject({ enabled: flag() });
