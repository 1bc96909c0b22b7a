import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { variableOf } from '../src/config/key-names.js';
import { LEAVES, SECTIONS } from '../src/config/settings.js';
import { Metrics } from '../src/observability/metrics.js';

const PAGES = ['README.md', 'CONTRIBUTING.md', ...inFolder('docs', '.md'), ...inFolder('docs/decisions', '.md')];
const TEXTS = [...PAGES, ...inFolder('config/nginx', '.conf'), 'config/default.yaml', 'compose.yaml', 'Dockerfile'];

const ROOTS = [...SECTIONS].filter((section) => !section.includes('.'));
/** `runs.leaseMs`, but not `events.md`, a file, nor `harness.v1.AgentHarness`, a package. */
const KEY = new RegExp(
  `(?<![\\w./-])(?:${ROOTS.join('|')})\\.(?!md\\b|v1\\.|service\\b|health\\.)[a-z]\\w*(?:\\.[a-z]\\w*)*`,
  'g',
);
const VARIABLE = /\bBRIDLE_[A-Z][A-Z_]*/g;
const METRIC = /\b(?:bridle|nodejs|process)_[a-z_]+[a-z]\b/g;
/** Of a histogram a query names one of these. */
const SERIES = /_(bucket|sum|count)$/;
/** What is called like a metric and is none: nginx's upstreams. */
const NO_METRICS = ['bridle_grpc'];
/** Variables that are no keys, as `src/config/layers.ts` knows them. */
const NO_KEYS = /^BRIDLE_(CONFIG|TEST_[A-Z_]+)$/;

function inFolder(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

const read = (path: string): string => readFileSync(path, 'utf8');
const namesIn = (path: string, pattern: RegExp): string[] => [...new Set(read(path).match(pattern) ?? [])];

describe.each(TEXTS)('%s', (path) => {
  it('names only keys and variables that exist', () => {
    const keys = namesIn(path, KEY).filter((name) => !LEAVES.has(name) && !SECTIONS.has(name));
    expect(keys).toEqual([]);
    const known = new Set([...LEAVES.keys()].map(variableOf));
    const variables = namesIn(path, VARIABLE).filter((name) => !known.has(name) && !NO_KEYS.test(name));
    expect(variables).toEqual([]);
  });

  it('names only metrics that exist', async () => {
    const known = (await new Metrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    const named = namesIn(path, METRIC).filter((name) => !NO_METRICS.includes(name));
    expect(named.filter((name) => !known.includes(name) && !known.includes(name.replace(SERIES, '')))).toEqual([]);
  });
});

describe.each(PAGES)('%s', (path) => {
  it('links only to what is there', () => {
    const targets = [...read(path).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    expect(targets.filter((target) => !existsSync(join(dirname(path), target)))).toEqual([]);
  });
});

describe('docs/operating.md', () => {
  const page = read('docs/operating.md');

  it('explains every metric of ours', async () => {
    const ours = (await new Metrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    const named = namesIn('docs/operating.md', METRIC);
    expect(ours.filter((name) => name.startsWith('bridle_') && !named.includes(name))).toEqual([]);
  });

  it('quotes messages as the log has them', () => {
    const [, table = ''] = /^## Logs$([\s\S]*?)^## /m.exec(page) ?? [];
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const messages = rows.flatMap((row) => row.split('|')[1]!.match(/[^`]+(?=`(?:,|\s|$))/g) ?? []);
    const quoted = messages.filter((text) => text.trim() !== '' && text.trim() !== ',');
    expect(quoted.length).toBeGreaterThan(10);
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(join('src', name)))
      .join('\n');
    expect(quoted.filter((text) => !sources.includes(`'${text}'`))).toEqual([]);
  });

  it('quotes nginx as the file that is shipped has it', () => {
    const file = read('config/nginx/bridle.conf');
    const [, table = ''] = /^## nginx$([\s\S]*?)^## /m.exec(page) ?? [];
    const quoted = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(
      ([, cell = '']) => cell.match(/(?<=`)[^`]+(?=`)/g) ?? [],
    );
    const directives = quoted.filter((text) => /^[a-z_]+( |$)/.test(text));
    expect(directives.length).toBeGreaterThan(6);
    expect(directives.filter((text) => !file.includes(text))).toEqual([]);
  });
});
