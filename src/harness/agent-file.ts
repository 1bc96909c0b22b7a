import { basename } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../config/config-error.js';
import { nearest } from '../config/key-names.js';
import { AGENT_NAME } from '../config/sections/runs.js';
import { CAPABILITIES } from '../events/projection.js';
import type { AgentDefinition } from './agent.js';
import { readMarkdown } from './front-matter.js';

const ACCEPTED = {
  name: 'the name of the file without .md',
  description: 'a text of 1 to 1000 characters',
  model: 'the name of a model',
  tools: 'a list of tool names, each once',
  capabilities: `a list of ${CAPABILITIES.join(', ')}, each once`,
  expose: 'a list of v1, adk, each once and at least one',
  limits: 'maxTurns: a whole number, at least 1',
} as const;

const distinct = <T>(items: readonly T[]): boolean => new Set(items).size === items.length;

/** The front matter; every field that is read here has an effect. */
const frontMatterSchema = z.strictObject({
  name: z.string().optional(),
  description: z.string().trim().min(1).max(1000),
  model: z.string().trim().min(1).optional(),
  tools: z
    .array(z.string().regex(/^[A-Za-z_][\w-]{0,63}$/))
    .refine(distinct)
    .default([]),
  capabilities: z.array(z.enum(CAPABILITIES)).refine(distinct).default([]),
  expose: z
    .array(z.enum(['v1', 'adk']))
    .min(1)
    .refine(distinct),
  limits: z.strictObject({ maxTurns: z.int().min(1).optional() }).default({}),
});

/**
 * Reads one agent file.
 * @throws ConfigError naming file, line, field and what is accepted
 */
export function readAgentFile(file: string): AgentDefinition {
  const name = basename(file, '.md');
  if (!AGENT_NAME.test(name)) {
    throw new ConfigError(`${file} must be named after its agent: a letter, then letters, digits, _ and -, then .md`);
  }
  const { frontMatter, body } = readMarkdown(file);
  const parsed = frontMatterSchema.safeParse(frontMatter.value);
  if (!parsed.success) {
    const path = pathOf(parsed.error.issues[0]);
    throw new ConfigError(`${file} line ${frontMatter.lineOf(path)} ${complaint(path, frontMatter.value)}`);
  }
  const { description, model, tools, capabilities, expose, limits } = parsed.data;
  if (parsed.data.name !== undefined && parsed.data.name !== name) {
    throw new ConfigError(`${file} line ${frontMatter.lineOf(['name'])} field name must be ${ACCEPTED.name}, ${name}`);
  }
  if (body === '') throw new ConfigError(`${file} has no text below its front matter; that text is the system prompt`);
  return { name, description, systemPrompt: body, model, tools, capabilities, expose, maxTurns: limits.maxTurns };
}

/** The field an issue is about; for an unknown field its own name. */
function pathOf(issue: z.core.$ZodIssue | undefined): string[] {
  const path = (issue?.path ?? []).map(String);
  return issue?.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path;
}

function complaint(path: readonly string[], value: Readonly<Record<string, unknown>>): string {
  const [field = '', inner] = path;
  if (field === '' || !Object.hasOwn(ACCEPTED, field)) {
    const known = Object.keys(ACCEPTED);
    return `there is no field ${field}; accepted are ${known.join(', ')}, the nearest is ${nearest(field, known) ?? ''}`;
  }
  const accepted = ACCEPTED[field as keyof typeof ACCEPTED];
  if (value[field] === undefined) return `lacks the field ${field}, ${accepted}`;
  const shown = inner === undefined ? value[field] : (value[field] as Record<string, unknown>)[inner];
  const name = inner !== undefined && Number.isNaN(Number(inner)) ? `${field}.${inner}` : field;
  return `field ${name} must be ${accepted}, got ${JSON.stringify(shown)?.slice(0, 80) ?? 'nothing'}`;
}
