import { ConfigError } from '../config/config-error.js';
import { parseYaml, readText, type YamlSource } from '../config/yaml-source.js';

/** A Markdown file in its two parts. */
export interface MarkdownFile {
  readonly frontMatter: YamlSource;
  /** What stands below the front matter, without blank lines around it. */
  readonly body: string;
}

/**
 * Reads a Markdown file that begins with front matter: YAML between a first line `---` and the next line `---`.
 * @throws ConfigError naming file and line
 */
export function readMarkdown(file: string): MarkdownFile {
  const lines = readText(file)
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/);
  if (lines[0]?.trimEnd() !== '---') throw new ConfigError(`${file} line 1 must be ---, the begin of the front matter`);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end < 0) throw new ConfigError(`${file} line 1 opens front matter that no later line --- closes`);
  return {
    frontMatter: parseYaml(lines.slice(1, end).join('\n'), file, 2),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}
