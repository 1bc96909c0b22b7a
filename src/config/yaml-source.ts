import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';
import { ConfigError } from './config-error.js';

/** A YAML mapping that knows the line of each of its keys. */
export interface YamlSource {
  readonly file: string;
  /** The mapping as plain data; empty for an empty document. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of a key in the file, counted from 1; of its nearest parent that is there, else the first line. */
  lineOf(path: readonly string[]): number;
}

/**
 * Parses one YAML mapping. Repeated keys are errors.
 * @param firstLine the line of the file on which the text begins
 * @throws ConfigError naming file and line
 */
export function parseYaml(text: string, file: string, firstLine = 1): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    throw new ConfigError(`${file} line ${lineAt(problem.pos[0])} is not valid YAML: ${oneLine(problem.message)}`);
  }
  const root: Node | null = document.contents;
  if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null)) {
    throw new ConfigError(
      `${file} line ${firstLine} must hold keys and values, not a ${isScalar(root) ? 'text' : 'list'}`,
    );
  }
  const map = isMap(root) ? root : undefined;
  return {
    file,
    value: map === undefined ? {} : (document.toJS() as Record<string, unknown>),
    lineOf: (path) => lineAt(offsetOf(map, path)),
  };
}

/** Reads a YAML file. @throws ConfigError when it cannot be read or is not a valid mapping */
export function readYaml(file: string): YamlSource {
  return parseYaml(readText(file), file);
}

/** Reads a text file. @throws ConfigError when it cannot be read */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ConfigError(`the file ${file} cannot be read (${code})`);
  }
}

function offsetOf(root: YAMLMap | undefined, path: readonly string[]): number {
  let map = root;
  let offset = 0;
  for (const name of path) {
    const pair = map?.items.find((item) => keyText(item) === name);
    if (pair === undefined) break;
    offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
    map = isMap(pair.value) ? pair.value : undefined;
  }
  return offset;
}

const keyText = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);
const oneLine = (message: string): string => message.replace(/\s+/g, ' ').trim();
