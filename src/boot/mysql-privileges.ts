const TO_WORK = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
const TO_MIGRATE = ['CREATE', 'ALTER', 'INDEX'];

/**
 * Reads `SHOW GRANTS`.
 * @returns the privileges on the schema that its lines lack; none when they name a role, whose grants may not be shown
 */
export function missingPrivileges(grants: readonly string[], schema: string, isToMigrate: boolean): readonly string[] {
  const held = new Set<string>();
  for (const grant of grants) {
    const parts = /^GRANT (.+?) ON (?:TABLE )?(.+?)\.\* TO /.exec(grant);
    if (parts === null) {
      if (!/ ON /.test(grant)) return []; // GRANT `role` TO `user`
      continue;
    }
    const [, privileges = '', pattern = ''] = parts;
    if (!covers(pattern, schema)) continue;
    for (const privilege of privileges.split(/, ?/)) held.add(privilege);
  }
  if (held.has('ALL PRIVILEGES')) return [];
  return [...TO_WORK, ...(isToMigrate ? TO_MIGRATE : [])].filter((privilege) => !held.has(privilege));
}

/** Schemas are named by a pattern: `_` and `%` stand for any characters unless a backslash is before them. */
function covers(pattern: string, schema: string): boolean {
  if (pattern === '*') return true;
  const name = pattern.replace(/^`|`$/g, '').replaceAll('``', '`');
  const expression = name.replace(/\\([_%])|([_%])|[.*+?^${}()|[\]\\]/g, (found, plain, wild) => {
    if (plain !== undefined) return plain as string;
    if (wild !== undefined) return wild === '_' ? '.' : '.*';
    return `\\${found}`;
  });
  return new RegExp(`^${expression}$`, 's').test(schema);
}
