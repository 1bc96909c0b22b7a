import { checkTimeZone, isTimeZoneName } from '../../src/common/time-zone.js';

describe('time zone names', () => {
  it.each(['Asia/Shanghai', 'asia/shanghai', 'UTC', 'America/Argentina/Buenos_Aires'])('takes %s', (name) => {
    expect(isTimeZoneName(name)).toBe(true);
    expect(() => checkTimeZone(name)).not.toThrow();
  });

  it.each(['', '+08:00', 'GMT+8', 'Mars/Olympus', ' Asia/Shanghai'])('refuses %j', (name) => {
    expect(isTimeZoneName(name)).toBe(false);
    expect(() => checkTimeZone(name)).toThrow(expect.objectContaining({ reason: 'TIME_ZONE_INVALID' }));
  });

  it.each([[undefined], [null], [8], [{}]])('refuses %j, which is no text', (value) => {
    expect(isTimeZoneName(value)).toBe(false);
  });
});
