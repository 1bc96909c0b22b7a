import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyAliases, namesWithoutEffect } from './aliases.js';
import { Config, type HarnessAgentSettings } from './config.js';
import { checkTogether } from './cross-checks.js';
import { Draft } from './draft.js';
import { applyEnvironment, applyYaml, type Environment } from './layers.js';
import { resolveProvider } from './model-provider.js';
import { LEAVES, type Settings } from './settings.js';
import { readYaml } from './yaml-source.js';

/** The folder that holds `default.yaml` and the agents that are shipped. */
const CONFIG_DIR = fileURLToPath(new URL('../../config/', import.meta.url));

export interface LoadedConfig {
  readonly config: Config;
  /** Sentences for the log: what is set and has no effect, what is risky. */
  readonly warnings: readonly string[];
}

/**
 * Reads `config/default.yaml`, the file that `BRIDLE_CONFIG` names, and the environment, each over the one before.
 * @param environment default: the environment of the process
 * @throws ConfigError one sentence; the caller prints it and exits with 78
 */
export function loadConfig(environment: Environment = process.env): LoadedConfig {
  const draft = new Draft();
  applyYaml(draft, readYaml(join(CONFIG_DIR, 'default.yaml')), 'default');
  const file = environment['BRIDLE_CONFIG'];
  if (file) applyYaml(draft, readYaml(file), 'file');
  applyEnvironment(draft, environment);
  applyAliases(draft, environment);
  resolveProvider(draft, environment);
  deriveDefaults(draft);

  const config = new Config(toSettings(draft), harnessAgentOf(environment));
  checkTogether(config);
  return { config, warnings: [...namesWithoutEffect(environment), ...risks(config)] };
}

/** Defaults that follow another key. */
function deriveDefaults(draft: Draft): void {
  draft.derive('agents.dir', join(CONFIG_DIR, 'agents'), 'default');
  const dir = draft.get('storage.dir') as string;
  if (!draft.isSet('storage.dir')) return;
  draft.derive('database.url', `sqlite:${join(dir, 'bridle.sqlite')}`, 'storage.dir');
  draft.derive('harness.scriptModel.effectsFile', join(dir, 'effects.jsonl'), 'storage.dir');
}

/** Every value was checked by its own schema when it was set; here only a hole in `default.yaml` could be found. */
function toSettings(draft: Draft): Settings {
  const missing = [...LEAVES.keys()].find((key) => !draft.has(key));
  if (missing !== undefined) throw new Error(`config/default.yaml lacks the key ${missing}`);
  return draft.toSections() as Settings;
}

function harnessAgentOf(environment: Environment): HarnessAgentSettings {
  const { SYSTEM_PROMPT: systemPrompt, DESCRIPTION: description, TOOLS: tools } = environment;
  const names = tools?.split(',').map((name) => name.trim());
  return {
    ...(systemPrompt ? { systemPrompt } : {}),
    ...(description ? { description } : {}),
    ...(names ? { tools: names.filter((name) => name !== '') } : {}),
  };
}

function risks(config: Config): string[] {
  const warnings: string[] = [];
  if (config.harness.scriptModel.enabled) {
    warnings.push('harness.scriptModel.enabled is true: a message can crash this process; never in production');
  }
  if (config.server.role !== 'all' && config.database.url.startsWith('sqlite:')) {
    warnings.push(
      `server.role is ${config.server.role} on SQLite, which takes one process: nobody else can ` +
        `${config.server.role === 'api' ? 'execute the runs' : 'bring runs'}; api and worker share MySQL and storage.dir`,
    );
  }
  if (config.auth.mode === 'none' && config.auth.allowOpen) {
    warnings.push('auth.allowOpen is true: everybody who reaches this server may use it');
  }
  return warnings;
}
