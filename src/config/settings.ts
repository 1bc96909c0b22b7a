import { z } from 'zod';
import { ConfigError } from './config-error.js';
import { leafFacts, type LeafFacts } from './leaf.js';
import { auth, docs } from './sections/access.js';
import { harness, limits, model } from './sections/model.js';
import { agents, log } from './sections/operations.js';
import { proxy } from './sections/proxy.js';
import { fetch, vision } from './sections/pictures.js';
import { events, observers, onDisconnect, profile, runs } from './sections/runs.js';
import { grpc, http, server } from './sections/server.js';
import { database, storage } from './sections/storage.js';

/** Every section and key of the configuration. */
export const settingsSchema = z.strictObject({
  server,
  http,
  grpc,
  storage,
  database,
  model,
  harness,
  limits,
  runs,
  onDisconnect,
  profile,
  events,
  observers,
  proxy,
  fetch,
  vision,
  auth,
  docs,
  log,
  agents,
});

export type Settings = z.output<typeof settingsSchema>;

/** One key: its path, what it accepts and how its text is read. */
export interface Leaf extends LeafFacts {
  /** `runs.leaseMs` */
  readonly key: string;
  readonly schema: z.ZodType;
}

function collect(section: z.ZodObject, prefix: string, found: Map<string, Leaf>): Map<string, Leaf> {
  for (const [name, child] of Object.entries(section.shape)) {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (child instanceof z.ZodObject) {
      collect(child, key, found);
      continue;
    }
    const schema = child as z.ZodType;
    const facts = leafFacts.get(schema);
    if (facts === undefined) throw new Error(`the schema of ${key} has no facts`);
    found.set(key, { ...facts, key, schema });
  }
  return found;
}

/** Every key by its path. */
export const LEAVES: ReadonlyMap<string, Leaf> = collect(settingsSchema, '', new Map());

/** The paths of the sections: `runs`, `harness.scriptModel` … */
export const SECTIONS: ReadonlySet<string> = new Set(
  [...LEAVES.keys()].flatMap((key) => {
    const parts = key.split('.');
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
  }),
);

/** @throws ConfigError when there is no such key, which only a mistake in our own tables can cause */
export function leafOf(key: string): Leaf {
  const found = LEAVES.get(key);
  if (found === undefined) throw new ConfigError(`there is no key ${key}`);
  return found;
}
