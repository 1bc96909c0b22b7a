import { ConfigError } from './config-error.js';
import { type Draft, type Rank, showValue } from './draft.js';
import { nearest, variableOf } from './key-names.js';
import { LEAVES, SECTIONS } from './settings.js';
import type { YamlSource } from './yaml-source.js';

/** Environment variables: of the process, or a test's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Lays a YAML file over the draft.
 * @throws ConfigError for an unknown key, a value that is not accepted, and a secret that is not in a file of its own
 */
export function applyYaml(draft: Draft, source: YamlSource, rank: Rank): void {
  applySection(draft, source, rank, []);
}

function applySection(draft: Draft, source: YamlSource, rank: Rank, path: readonly string[]): void {
  const section = path.reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], source.value);
  for (const [name, value] of Object.entries(section as Record<string, unknown>)) {
    const here = [...path, name];
    const key = here.join('.');
    const place = rank === 'default' ? source.file : `${source.file} line ${source.lineOf(here)}`;
    if (SECTIONS.has(key)) {
      if (value === null) continue;
      if (typeof value !== 'object' || Array.isArray(value)) {
        throw new ConfigError(`${key} must be a section of keys, got ${showValue(key, value)} from ${place}`);
      }
      applySection(draft, source, rank, here);
      continue;
    }
    applyLeaf(draft, key, value, rank, place);
  }
}

function applyLeaf(draft: Draft, key: string, value: unknown, rank: Rank, place: string): void {
  const leaf = LEAVES.get(key);
  if (leaf === undefined) {
    throw new ConfigError(
      `there is no key ${key} (${showValue(key, value)} in ${place}); accepted are the keys of config/default.yaml, ` +
        `the nearest is ${nearest(key, LEAVES.keys()) ?? 'none'}`,
    );
  }
  if (holdsSecret(leaf.secret, value)) {
    throw new ConfigError(
      `${key} holds a secret in ${place}; accepted are the variable ${variableOf(key)} and a value of the form @/path/of/a/file`,
    );
  }
  draft.set(key, value, rank, place);
}

function holdsSecret(secret: 'value' | 'part' | 'digest' | undefined, value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.startsWith('@/')) return false;
  if (secret === 'part') return URL.canParse(value) && new URL(value).password !== '';
  return secret === 'value';
}

/** Variables with our prefix that are no keys: the file's name, and what the test suite reads. */
const isReserved = (name: string): boolean => name === 'BRIDLE_CONFIG' || name.startsWith('BRIDLE_TEST_');

/** Kubernetes gives each container variables of the services around it: for one called "bridle" these. */
const isServiceLink = (name: string, environment: Environment): boolean =>
  environment['KUBERNETES_SERVICE_HOST'] !== undefined &&
  /^BRIDLE_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$/.test(name);

const KEY_OF_VARIABLE: ReadonlyMap<string, string> = new Map([...LEAVES.keys()].map((key) => [variableOf(key), key]));

/**
 * Lays the `BRIDLE_…` variables over the draft. An empty variable counts as not set.
 * @throws ConfigError for an unknown variable and a value that is not accepted
 */
export function applyEnvironment(draft: Draft, environment: Environment): void {
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith('BRIDLE_') || text === undefined) continue;
    if (isReserved(name) || isServiceLink(name, environment)) continue;
    const key = KEY_OF_VARIABLE.get(name);
    if (key === undefined) {
      throw new ConfigError(
        `there is no key for the variable ${name} (${showValue(name, text)}); accepted is BRIDLE_ and a key of ` +
          `config/default.yaml in upper snake case, the nearest is ${nearest(name, KEY_OF_VARIABLE.keys()) ?? 'none'}`,
      );
    }
    if (text !== '') draft.set(key, valueOf(key, text), 'environment', name);
  }
}

/** The value that a variable's text gives a key; `@/path` stays as it is. */
export function valueOf(key: string, text: string): unknown {
  const leaf = LEAVES.get(key);
  if (leaf === undefined || (leaf.secret !== undefined && text.startsWith('@/'))) return text;
  return leaf.fromText(text);
}
