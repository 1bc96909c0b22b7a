import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One effect of a test tool. */
export interface Effect {
  readonly runId: string;
  readonly stepKey: string;
  readonly attempt: number;
  readonly tool: string;
}

/** What the test tools of a server did for a run, in order. */
export function effectsOf(server: { readonly storageDir: string }, runId: string): Effect[] {
  return allEffects(server).filter((effect) => effect.runId === runId);
}

/** What the test tools of all servers of this folder did, in order. */
export function allEffects({ storageDir }: { readonly storageDir: string }): Effect[] {
  const path = join(storageDir, 'effects.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Effect);
}
