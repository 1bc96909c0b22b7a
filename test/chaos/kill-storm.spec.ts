import { killStorm } from './kill-storm.js';

const KILLS = 200;
const LIMIT_MS = 3_600_000;

describe('processes that are killed at random', () => {
  it(
    'leave every log whole',
    async () => {
      const report = await killStorm({ seed: Number(process.env['BRIDLE_CHAOS_SEED']), kills: KILLS });
      console.info(JSON.stringify(report));
      expect(report.faults).toEqual([]);
    },
    LIMIT_MS,
  );
});
