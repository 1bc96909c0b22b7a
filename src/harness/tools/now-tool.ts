import type { Clock } from '../../common/clock.js';
import type { JsonObject } from '../../common/json.js';
import { Tool, type ToolResult } from '../ports/tool.port.js';

/** Tells the current date and time: ISO 8601 with the zone's offset, and the weekday. */
export class NowTool extends Tool {
  readonly effect = 'read_only';
  readonly declaration;

  /** @param timeZone IANA zone of the run, used when the call names none; default UTC */
  constructor(
    private readonly clock: Clock,
    private readonly timeZone = 'UTC',
  ) {
    super();
    this.declaration = {
      name: 'now',
      description: `The current date, time and weekday. Without time_zone: in ${timeZone}.`,
      parameters: {
        type: 'object',
        properties: {
          time_zone: { type: 'string', description: 'IANA time zone, for example Asia/Shanghai' },
        },
        additionalProperties: false,
      },
    } as const;
  }

  async run(args: JsonObject): Promise<ToolResult> {
    const timeZone = typeof args['time_zone'] === 'string' ? args['time_zone'] : this.timeZone;
    return Promise.resolve({ json: localTime(this.clock.nowMs(), timeZone) });
  }
}

function localTime(epochMs: number, timeZone: string): JsonObject {
  const fields = fieldsOf(epochMs, timeZone);
  const { year, month, day, hour, minute, second, weekday, timeZoneName } = fields;
  // `longOffset` writes GMT, GMT+08:00 or, for old local times, GMT-00:25:21.
  const offset = timeZoneName === 'GMT' ? '+00:00' : (timeZoneName ?? '').replace('GMT', '');
  return { time: `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`, weekday: weekday ?? '', timeZone };
}

function fieldsOf(epochMs: number, timeZone: string): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  try {
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
    return Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  } catch (error) {
    throw new Error('time_zone must be an IANA time zone, for example Europe/Oslo', { cause: error });
  }
}
