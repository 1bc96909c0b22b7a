/** What happened next in a race: an event of one runner, or its result. */
export type RaceStep<Key, Event, Result> =
  | { readonly kind: 'event'; readonly key: Key; readonly event: Event }
  | { readonly kind: 'result'; readonly key: Key; readonly result: Result };

/**
 * Generators that run side by side and are read as one. A runner goes on only when its last event was taken: what an
 * event announces begins after whoever reads the race has dealt with it.
 */
export class Race<Key, Event, Result> {
  private readonly next = new Map<Key, Promise<RaceStep<Key, Event, Result>>>();
  private readonly runners = new Map<Key, AsyncGenerator<Event, Result>>();

  /** Starts a runner. */
  add(key: Key, runner: AsyncGenerator<Event, Result>): void {
    this.runners.set(key, runner);
    this.pull(key, runner);
  }

  get size(): number {
    return this.next.size;
  }

  /**
   * Waits for whoever is first; never called when nobody runs.
   * @throws what a runner throws
   */
  async step(): Promise<RaceStep<Key, Event, Result>> {
    const step = await Promise.race(this.next.values());
    this.next.delete(step.key);
    if (step.kind === 'result') this.runners.delete(step.key);
    return step;
  }

  /** Lets the runner of an event go on; called when the event was taken. */
  resume(key: Key): void {
    const runner = this.runners.get(key);
    if (runner !== undefined) this.pull(key, runner);
  }

  private pull(key: Key, runner: AsyncGenerator<Event, Result>): void {
    const step = runner
      .next()
      .then((next): RaceStep<Key, Event, Result> =>
        next.done === true ? { kind: 'result', key, result: next.value } : { kind: 'event', key, event: next.value },
      );
    // The race reports the first failure; those of the others must not be unhandled.
    step.catch(() => undefined);
    this.next.set(key, step);
  }
}
