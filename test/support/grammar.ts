import type { EngineEvent, EventOf } from '../../src/events/harness-event.js';

/** What the stream was, which decides what is allowed in it. */
export interface StreamKind {
  /** `complete` ended with `run_end`; `broken` was cancelled or threw: any beginning of a stream. */
  readonly end: 'complete' | 'broken';
  /** The calls that a resumed stream starts with: decisions, actions or a pending batch may precede the first reason. */
  readonly resumed?: readonly string[];
}

type State = 'INIT' | 'READY' | 'CTX' | 'REASON' | 'AFTER' | 'PENDING' | 'DECIDING' | 'ACTION' | 'DONE';
type ReasonEnd = EventOf<'reason_end'>;

/** Asserts the ordering grammar and its invariants I1 to I9 over the events of one stream, children left out. */
export function assertGrammar(events: readonly EngineEvent[], kind: StreamKind): void {
  const walker = new GrammarWalker(kind);
  events.forEach((event, index) => {
    try {
      walker.step(event);
    } catch (cause) {
      const trail = events.slice(0, index + 1).map((each) => each.type);
      throw new Error(`${(cause as Error).message}, after ${trail.join(' ')}`, { cause });
    }
  });
  if (kind.end === 'complete') walker.assertDone();
}

function must(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(rule);
}

class GrammarWalker {
  private state: State = 'INIT';
  private first: EngineEvent | undefined;
  private readonly reasonIds = new Set<string>();
  private readonly startedCalls = new Set<string>();
  private readonly endedCalls = new Set<string>();
  private readonly openCalls = new Map<string, string>();
  private waitingCalls = new Map<string, string>();
  private reasonId = '';
  private asked: ReasonEnd | undefined;
  private spoken = '';
  private reasonStarts = 0;
  private reasonEnds = 0;
  private decided = new Set<string>();

  constructor(private readonly kind: StreamKind) {}

  assertDone(): void {
    must(this.state === 'DONE', 'I1: the stream has no run_end');
  }

  step(event: EngineEvent): void {
    this.first ??= event;
    must(event.runId === this.first.runId && event.streamId === this.first.streamId, 'I2: another run or stream');
    must(Object.isFrozen(event), 'an event is not frozen');
    switch (event.type) {
      case 'run_start':
        return this.go(['INIT'], 'READY');
      case 'context_size':
        return this.go(['READY', 'AFTER', 'REASON'], this.state === 'REASON' ? 'REASON' : 'CTX');
      case 'reason_start':
        return this.reasonStart(event);
      case 'reason_delta':
        must(event.reasonId === this.reasonId, 'I3: a delta of another reason');
        must(event.kind === 'media' || (event.text ?? '') !== '', 'an empty delta');
        if (event.kind === 'text') this.spoken += event.text;
        return this.go(['REASON'], 'REASON');
      case 'reason_end':
        return this.reasonEnd(event);
      case 'action_start':
        return this.actionStart(event);
      case 'tool_call_start':
        return this.toolStart(event);
      case 'tool_call_end':
        return this.toolEnd(event);
      case 'action_end':
        must(this.openCalls.size === 0 && this.waitingCalls.size === 0, 'action_end with calls that did not end');
        return this.go(['ACTION'], 'READY');
      case 'plan':
        must(this.openCalls.size > 0, 'I10: a plan outside a tool call');
        return this.go(['ACTION'], 'ACTION');
      case 'hitl_pending':
        return this.go(this.isResumeOpen() ? ['READY', 'AFTER'] : ['AFTER'], 'PENDING');
      case 'hitl_decided':
        must(!this.decided.has(event.callId), 'a call was decided twice');
        this.decided.add(event.callId);
        return this.go(this.isResumeOpen() ? ['READY', 'DECIDING'] : ['DECIDING'], 'DECIDING');
      case 'run_end':
        return this.runEnd(event);
      case 'progress':
      case 'state_delta':
      case 'artifact':
        must(this.state !== 'INIT' && this.state !== 'DONE', 'a note outside the run');
    }
  }

  private go(from: readonly State[], to: State): void {
    must(from.includes(this.state), `${this.state} does not allow what leads to ${to}`);
    this.state = to;
  }

  private isResumeOpen(): boolean {
    return this.kind.resumed !== undefined && this.reasonStarts === 0;
  }

  private reasonStart(event: EventOf<'reason_start'>): void {
    if (this.state === 'AFTER') must(this.asked?.toolCalls.length === 0, 'tool calls were left without an action');
    must(!this.reasonIds.has(event.reasonId), 'I3: a reasonId twice');
    this.reasonIds.add(event.reasonId);
    this.reasonId = event.reasonId;
    this.reasonStarts += 1;
    this.spoken = '';
    this.go(['READY', 'CTX', 'AFTER'], 'REASON');
  }

  private reasonEnd(event: ReasonEnd): void {
    must(event.reasonId === this.reasonId, 'I3: the end of another reason');
    must(event.text === this.spoken, 'I9: the text is not what the deltas said');
    must(event.durationMs >= 0, 'a negative duration');
    this.reasonEnds += 1;
    this.asked = event;
    this.go(['REASON'], 'AFTER');
  }

  private actionStart(event: EventOf<'action_start'>): void {
    const asked = this.isResumeOpen() ? this.kind.resumed : this.asked?.toolCalls.map((call) => call.callId);
    const listed = event.calls.map((call) => call.callId);
    must(listed.length > 0, 'an action without calls');
    must(
      JSON.stringify([...listed].sort()) === JSON.stringify([...(asked ?? [])].sort()),
      'I6: other calls than asked',
    );
    this.waitingCalls = new Map(event.calls.map((call) => [call.callId, call.toolName]));
    this.go(this.isResumeOpen() ? ['READY', 'DECIDING'] : ['AFTER'], 'ACTION');
  }

  private toolStart(event: EventOf<'tool_call_start'>): void {
    must(!this.startedCalls.has(event.callId), 'I5: a call started twice');
    must(this.waitingCalls.get(event.callId) === event.toolName, 'a call that the action does not list');
    if (this.asked !== undefined) must(event.reasonId === this.asked.reasonId, 'I7: the call of another reason');
    this.startedCalls.add(event.callId);
    this.waitingCalls.delete(event.callId);
    this.openCalls.set(event.callId, event.toolName);
    this.go(['ACTION'], 'ACTION');
  }

  private toolEnd(event: EventOf<'tool_call_end'>): void {
    must(!this.endedCalls.has(event.callId), 'I5: a call ended twice');
    must(this.openCalls.get(event.callId) === event.toolName, 'I5: the end of a call that is not open');
    if (this.asked !== undefined) must(event.reasonId === this.asked.reasonId, 'I7: the call of another reason');
    must(event.durationMs >= 0, 'I5: a negative duration');
    must(
      (event.outcome === 'ok' || event.outcome === 'skipped') === (event.error === null),
      'an outcome without error',
    );
    this.endedCalls.add(event.callId);
    this.openCalls.delete(event.callId);
    this.go(['ACTION'], 'ACTION');
  }

  private runEnd(event: EventOf<'run_end'>): void {
    must(event.abnormal === (event.reason !== 'completed'), 'abnormal does not fit the reason');
    must((event.reason === 'pending') === (this.state === 'PENDING'), 'I8: pending does not fit the state');
    must(this.reasonStarts - this.reasonEnds <= (event.abnormal ? 1 : 0), 'I4: a reason without its end');
    if (this.state === 'REASON') must(event.abnormal, 'I4: a reason without its end');
    if (this.state === 'AFTER' && !event.abnormal) must(this.asked?.toolCalls.length === 0, 'calls that never ran');
    if (!event.abnormal && this.asked !== undefined) {
      const { text, thinking = '' } = this.asked;
      const said = text.trim() === '' && thinking.trim() !== '' ? thinking : text;
      must(event.text === said, 'I9: run_end says something else');
    }
    this.go(['READY', 'CTX', 'REASON', 'AFTER', 'PENDING', 'DECIDING'], 'DONE');
  }
}
