/** Tells the time, so that tests can decide it. */
export abstract class Clock {
  /** Epoch milliseconds. */
  abstract nowMs(): number;
}

export class SystemClock extends Clock {
  nowMs(): number {
    return Date.now();
  }
}
