import type { Metrics, TokenCounts } from '../../events/values.js';

/** Adds up the tokens of an engine run and measures its time. */
export class TokenMeter {
  private counts: TokenCounts = {
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
  };

  /** @param startedAtMs epoch milliseconds of the run's start */
  constructor(private readonly startedAtMs: number) {}

  add(usage: TokenCounts): void {
    this.counts = {
      promptTokens: this.counts.promptTokens + usage.promptTokens,
      completionTokens: this.counts.completionTokens + usage.completionTokens,
      totalTokens: this.counts.totalTokens + usage.totalTokens,
      cacheCreationInputTokens: this.counts.cacheCreationInputTokens + usage.cacheCreationInputTokens,
      cacheReadInputTokens: this.counts.cacheReadInputTokens + usage.cacheReadInputTokens,
    };
  }

  metrics(nowMs: number): Metrics {
    return { totalDuration: Math.max(0, nowMs - this.startedAtMs), ...this.counts };
  }
}
