import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_SSE_OPERATION, RUN_SSE_SCHEMAS } from '../../../src/transport/adk/run-sse.openapi.js';

interface Published {
  readonly operation: object;
  readonly schemas: object;
}

const PUBLISHED = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden/run-sse-openapi.json'), 'utf8'),
) as Published;

/** A copy without texts for people; a field that is called `description` stays. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, child]) => !(name === 'description' && typeof child === 'string'));
  return Object.fromEntries(kept.map(([name, child]) => [name, withoutDescriptions(child)]));
}

describe('the document of /run_sse', () => {
  it('is the published one, descriptions apart', () => {
    expect(withoutDescriptions(RUN_SSE_OPERATION)).toEqual(PUBLISHED.operation);
    expect(withoutDescriptions(RUN_SSE_SCHEMAS)).toEqual(PUBLISHED.schemas);
  });

  it('names only components that it has', () => {
    const named = JSON.stringify([RUN_SSE_OPERATION, RUN_SSE_SCHEMAS]).matchAll(/#\/components\/schemas\/([\w-]+)/g);
    const missing = [...named].map(([, name]) => name!).filter((name) => !(name in RUN_SSE_SCHEMAS));
    expect(missing).toEqual([]);
  });
});
