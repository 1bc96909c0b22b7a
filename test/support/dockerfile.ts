import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile, continued lines joined. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of each stage, from its FROM on. Here-documents are not understood. */
export function stagesOf(path: string): Instruction[][] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^\s*([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`no instruction: ${line}`);
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, rest: rest.trim() });
  }
  return stages;
}

/** The variables that a stage sets. */
export function variablesOf(stage: readonly Instruction[]): Map<string, string> {
  const pairs = stage.filter(({ name }) => name === 'ENV').flatMap(({ rest }) => rest.split(/\s+/));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
