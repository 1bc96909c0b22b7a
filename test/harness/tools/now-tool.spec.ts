import { Clock } from '../../../src/common/clock.js';
import { NowTool } from '../../../src/harness/tools/now-tool.js';

class FixedClock extends Clock {
  constructor(private readonly ms: number) {
    super();
  }
  nowMs(): number {
    return this.ms;
  }
}

const clock = new FixedClock(Date.UTC(2026, 7, 17, 22, 5, 9));

describe('NowTool', () => {
  it.each([
    [undefined, {}, { time: '2026-08-17T22:05:09+00:00', weekday: 'Monday', timeZone: 'UTC' }],
    ['Asia/Shanghai', {}, { time: '2026-08-18T06:05:09+08:00', weekday: 'Tuesday', timeZone: 'Asia/Shanghai' }],
    [
      'Asia/Shanghai',
      { time_zone: 'America/St_Johns' },
      { time: '2026-08-17T19:35:09-02:30', weekday: 'Monday', timeZone: 'America/St_Johns' },
    ],
  ])('tells the time in the zone of the run (%s) or of the call', async (zone, args, json) => {
    expect(await new NowTool(clock, zone).run(args)).toEqual({ json });
  });

  it('writes midnight as 00', async () => {
    const midnight = new NowTool(new FixedClock(Date.UTC(2026, 0, 1)));
    expect(await midnight.run({})).toMatchObject({ json: { time: '2026-01-01T00:00:00+00:00' } });
  });

  it('refuses a zone that does not exist, and says what it accepts', async () => {
    await expect(new NowTool(clock).run({ time_zone: 'Mars/Olympus' })).rejects.toThrow(
      'time_zone must be an IANA time zone',
    );
  });
});
