import type { EntityManager } from 'typeorm';
import { textOf, type UserInput } from '../../events/parts.js';

/** The language of a run's fixed texts: Chinese when the newest text holds a Han character, else as before, else English. */
export async function languageOf(
  manager: EntityManager,
  sessionId: string,
  input: UserInput | null,
): Promise<'zh' | 'en'> {
  const text = input === null ? '' : textOf(input.parts);
  if (/\p{Script=Han}/u.test(text)) return 'zh';
  const rows = await manager.query<{ language: 'zh' | 'en' }[]>(
    'SELECT language FROM runs WHERE session_id = ? ORDER BY ord DESC LIMIT 1',
    [sessionId],
  );
  return rows[0]?.language ?? 'en';
}
