import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs the project's own import rules over a small tree of planted files; the names of the broken rules. */
function brokenRules(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-import-rules-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'])
      copyFileSync(name, join(folder, name));
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    const program = join(process.cwd(), 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser said: ${stdout}${stderr}`);
    const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
    return [...new Set(summary.violations.map((violation) => violation.rule.name))].toSorted();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the import rules', () => {
  it('accept a dialect that calls a service and an engine that uses a port', () => {
    expect(
      brokenRules({
        'src/harness/ports/tool.port.ts': 'export abstract class Tool {}',
        'src/harness/engine/loop.ts': "import { Tool } from '../ports/tool.port.js';\nexport const tool = Tool;",
        'src/runs/runs.service.ts': 'export class RunsService {}',
        'src/transport/rest/runs.controller.ts':
          "import { RunsService } from '../../runs/runs.service.js';\nexport const service = RunsService;",
      }),
    ).toEqual([]);
  });

  it('refuse the engine in a dialect, even as a type', () => {
    expect(
      brokenRules({
        'src/harness/engine/loop.ts': 'export interface Loop { turns: number }',
        'src/transport/rest/runs.controller.ts':
          "import type { Loop } from '../../harness/engine/loop.js';\nexport type Turns = Loop['turns'];",
      }),
    ).toEqual(['transport-rest']);
  });

  it('refuse Nest in the engine', () => {
    expect(
      brokenRules({
        'src/harness/engine/loop.ts':
          "import { Injectable } from '@nestjs/common';\nexport const decorator = Injectable;",
      }),
    ).toEqual(['engine-is-plain-typescript']);
  });

  it('refuse a cycle, even of types', () => {
    expect(
      brokenRules({
        'src/common/a.ts': "import type { B } from './b.js';\nexport interface A { b: B }",
        'src/common/b.ts': "import type { A } from './a.js';\nexport interface B { a: A }",
      }),
    ).toEqual(['no-circular']);
  });

  it.each([
    ['the database in a dialect', 'src/transport/adk/x.ts', 'src/database/database.ts', 'transport-adk'],
    ['one dialect in another', 'src/transport/adk/x.ts', 'src/transport/rest/y.ts', 'transport-adk'],
    ['runs in sessions', 'src/sessions/x.ts', 'src/runs/run-executor.ts', 'sessions'],
    ['an adapter of a model in runs', 'src/runs/x.ts', 'src/harness/models/offline.ts', 'runs'],
    ['the file store itself in vision', 'src/vision/x.ts', 'src/storage/blob-store.file.ts', 'vision'],
    ['anything of ours in common', 'src/common/x.ts', 'src/events/parts.ts', 'common'],
  ])('refuse %s', (_what, from, to, rule) => {
    const up = '../'.repeat(from.split('/').length - 2);
    const target = to.replace(/^src\//, '').replace(/\.ts$/, '.js');
    expect(
      brokenRules({ [from]: `import { y } from '${up}${target}';\nexport const x = y;`, [to]: 'export const y = 1;' }),
    ).toEqual([rule]);
  });
});
