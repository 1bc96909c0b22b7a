import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';

/**
 * The shipped configuration with the given variables over it, whatever the environment of the test run holds.
 * `aConfig({ BRIDLE_RUNS_LEASE_MS: '2000' })`
 */
export function aConfig(variables: Readonly<Record<string, string>> = {}): Config {
  return loadConfig(variables).config;
}
