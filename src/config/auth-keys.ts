import { z } from 'zod';

export type KeyScope = 'audit:read' | 'admin';

/** A configured API key; the key itself is known to its holder alone. */
export interface KeyEntry {
  readonly name: string;
  /** SHA-256 of the key, 64 lower-case hex characters. */
  readonly sha256: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly scopes: readonly KeyScope[];
}

const ENTRY =
  /^(?<name>[\w.-]{1,64}):(?<sha256>[0-9a-fA-F]{64}):(?<tenantId>[^\s:]{1,64}):(?<userId>[^\s:]{1,256})(?::(?<scopes>.+))?$/;

/**
 * Reads `name:sha256:tenant:user[:scope+scope]`.
 * @returns undefined when the text has another shape or names an unknown scope
 */
export function parseKeyEntry(text: string): KeyEntry | undefined {
  const groups = ENTRY.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { name = '', sha256 = '', tenantId = '', userId = '' } = groups;
  const scopes = groups['scopes']?.split('+') ?? [];
  if (!scopes.every(isKeyScope)) return undefined;
  return { name, sha256: sha256.toLowerCase(), tenantId, userId, scopes };
}

function isKeyScope(scope: string): scope is KeyScope {
  return scope === 'audit:read' || scope === 'admin';
}

/** The value of `auth.keys`: each name and each digest once. */
export const keyEntries = z.array(z.string()).transform((texts, context): readonly KeyEntry[] => {
  const entries = texts.flatMap((text) => parseKeyEntry(text) ?? []);
  const names = new Set(entries.map((entry) => entry.name));
  const digests = new Set(entries.map((entry) => entry.sha256));
  if (names.size !== texts.length || digests.size !== texts.length) {
    context.addIssue({ code: 'custom', message: 'malformed or repeated key entry' });
    return z.NEVER;
  }
  return entries;
});
