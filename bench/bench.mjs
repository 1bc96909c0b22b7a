import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { phase, red, say } from '../scripts/lib/terminal.mjs';
import { Servers } from './lib/servers.mjs';
import { tableOf } from './lib/table.mjs';
import { MEASURES } from './measures/all.mjs';

/**
 * Runs measures one after the other and prints their table.
 * @param {{ only?: readonly string[], jsonFile?: string, profileDir?: string }} options
 * @returns {Promise<boolean>} whether all of them could be measured
 * @throws Error for a name that no measure has
 */
export async function bench({ only, jsonFile, profileDir }) {
  const chosen = choose(only);
  const startedMs = Date.now();
  const rows = [];
  const failed = [];
  const once = remember();
  for (const { name, measure } of chosen) {
    const servers = new Servers(profileDir);
    try {
      const result = await phase(name, async () => ({ ok: true, rows: await measure({ servers, once }) }));
      rows.push(...result.rows);
    } catch (error) {
      failed.push({ measure: name, why: error.message });
      say(red(`${name}: ${error.message}`));
    } finally {
      await servers.stop();
    }
  }
  const report = { ...machine(), takenAt: new Date(startedMs).toISOString(), seconds: (Date.now() - startedMs) / 1000 };
  say(`\n${report.node}, ${report.cores} × ${report.cpu}, ${report.memoryGib} GiB, ${Math.round(report.seconds)} s\n`);
  console.log(tableOf(rows));
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify({ ...report, rows, failed }, undefined, 2)}\n`);
  return failed.length === 0;
}

function choose(only) {
  if (only === undefined) return MEASURES;
  const names = MEASURES.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`there is no measure ${unknown}; accepted are ${names.join(', ')}`);
  return MEASURES.filter(({ name }) => only.includes(name));
}

/** What two measures share is made once. */
function remember() {
  const made = new Map();
  return (key, make) => {
    if (!made.has(key)) made.set(key, make());
    return made.get(key);
  };
}

function machine() {
  const cores = cpus();
  return {
    node: `Node ${process.versions.node}`,
    platform: `${process.platform} ${process.arch}`,
    cpu: cores[0]?.model ?? 'unknown processor',
    cores: cores.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
  };
}
