import { upTo, type EventItem, type RunKey, type V1Client } from './v1-client.js';

const TERMINAL = ['run.completed', 'run.failed', 'run.cancelled', 'run.expired'];

/**
 * Waits for the end of a run and checks its log: dense ids, exactly one terminal event, which is the last one and
 * agrees with the run.
 * @returns the terminal event
 */
export async function expectOneEnd(v1: V1Client, run: RunKey): Promise<EventItem> {
  const state = await v1.ended(run);
  const events = await v1.events(run);
  expect(events.map((event) => event.id)).toEqual(upTo(events.length));
  expect(events.filter((event) => TERMINAL.includes(event.type))).toEqual([events.at(-1)]);
  expect(events.at(-1)?.type).toBe(`run.${state.status}`);
  return events.at(-1)!;
}
