import type { HarnessEvent } from '../../events/harness-event.js';
import type { Usage } from '../../events/values.js';

/** True for an event that changes the run's tokens. */
export function reportsUsage(event: HarnessEvent): boolean {
  return event.type === 'usage' || (event.type === 'reason_end' && event.usage !== undefined);
}

/** The run's tokens after an event: `reason_end` reports most, `usage` what no `reason_end` could. */
export function usageAfter(usage: Usage, event: HarnessEvent): Usage {
  if (event.type === 'reason_end' && event.usage !== undefined) {
    return {
      inputTokens: usage.inputTokens + event.usage.promptTokens,
      outputTokens: usage.outputTokens + event.usage.completionTokens,
      totalTokens: usage.totalTokens + event.usage.totalTokens,
      cachedTokens: usage.cachedTokens + event.usage.cacheReadInputTokens,
      estimated: usage.estimated,
    };
  }
  if (event.type === 'usage') {
    return {
      inputTokens: usage.inputTokens + event.usage.inputTokens,
      outputTokens: usage.outputTokens + event.usage.outputTokens,
      totalTokens: usage.totalTokens + event.usage.totalTokens,
      cachedTokens: usage.cachedTokens + event.usage.cachedTokens,
      estimated: usage.estimated || event.usage.estimated,
    };
  }
  return usage;
}
