import type { JsonObject } from '../../common/json.js';
import type { EngineEvent, EventOf } from '../../events/harness-event.js';
import type { EndReason, ToolCallRequest } from '../../events/values.js';
import type { ChatMessage, ChatRequest } from '../ports/chat-model.port.js';
import type { OpenCalls } from '../ports/trace.js';
import { abortable } from '../../common/abort.js';
import { Action, resultMessages, type DoneCall } from './act.js';
import { judgeBatch, type DecidedCall } from './batch.js';
import type { EngineInput } from './engine-input.js';
import { engineTexts, type EngineTexts } from './engine-texts.js';
import { EventFactory } from './event-factory.js';
import { Reasoning, type ReasonOutcome } from './reason.js';
import { hasPicture, withoutOldPictures } from './run-messages.js';
import type { Waiting } from './stepped-tool.js';
import { TokenMeter } from './token-meter.js';
import { isRunnable } from './tool-call.js';

type RunEnd = EventOf<'run_end'>;
type Answered = Extract<ReasonOutcome, { kind: 'answered' }>;
type Said = Pick<Answered, 'text' | 'thinking' | 'toolCalls' | 'finishReason'>;
type Failed = Extract<ReasonOutcome, { kind: 'failed' }>;

/** Corrective turns after empty answers in a row; one more empty answer ends the run. */
const EMPTY_ANSWERS_FORGIVEN = 2;

/** The loop of one engine run and its working memory. */
export class EngineLoop {
  private readonly events: EventFactory;
  private readonly texts: EngineTexts;
  private readonly meter: TokenMeter;
  private messages: ChatMessage[];
  private turns: number;
  private turnLimit: number;
  private emptyAnswers = 0;
  private isCorrected = false;
  private openReason: (() => EngineEvent) | undefined;

  constructor(
    private readonly input: EngineInput,
    private readonly signal: AbortSignal,
  ) {
    this.events = new EventFactory(input);
    this.texts = engineTexts(input.language);
    this.meter = new TokenMeter(input.clock.nowMs());
    const { messages, turnsTaken } = input.trace;
    this.messages = input.model.acceptsPictures ? [...messages] : withoutOldPictures(messages, input.runId);
    this.turns = turnsTaken;
    this.turnLimit = input.limits.maxTurns;
  }

  async *run(): AsyncGenerator<EngineEvent> {
    yield this.events.make('run_start', {});
    for (let end = yield* this.begin(); ; end = yield* this.turn()) {
      if (end === undefined) continue;
      if (await this.isAccepted(end)) {
        yield end;
        return;
      }
      this.turnLimit = Math.max(this.turnLimit, this.turns + 1);
      if (this.openReason !== undefined) yield this.openReason();
      this.openReason = undefined;
    }
  }

  /** Goes on where the log of the run stops, without asking the model; undefined = the loop goes on. */
  private async *begin(): AsyncGenerator<EngineEvent, RunEnd | undefined> {
    const { openCalls, openAnswer } = this.input.trace;
    const left = undecided(this.input);
    if (left !== undefined) return yield* this.wait(left);
    if (openCalls !== undefined) return yield* this.act(openCalls.reasonId, openCalls.calls, openCalls);
    return openAnswer && this.judge({ ...openAnswer, toolCalls: [] });
  }

  /** Not raced with the signal: the host ends the run inside this call. */
  private async isAccepted(end: RunEnd): Promise<boolean> {
    const { inputs } = this.input;
    // What came in while a human is waited for is read after the answer: it cannot stand between calls and results.
    if (end.reason === 'pending') return (await inputs.mayEnd(end)) || true;
    return !(await this.takeInputs()) && inputs.mayEnd(end);
  }

  /** One model call and what follows from it; undefined = the loop goes on. */
  private async *turn(): AsyncGenerator<EngineEvent, RunEnd | undefined> {
    await this.takeInputs();
    if (!this.input.model.acceptsPictures && this.messages.some(hasPicture)) {
      return this.end('provider_error', this.texts.modelLacksVision, { reason: 'MODEL_LACKS_VISION' });
    }
    if (this.turns >= this.turnLimit) {
      const { maxTurns } = this.input.limits;
      return this.end('max_turns', this.texts.maxTurns(maxTurns), { maxTurns });
    }
    this.turns += 1;
    const outcome = yield* new Reasoning(this.input, this.request(), this.events, this.signal).run();
    if (outcome.kind === 'failed') {
      if (!this.leavesOutOldPictures(outcome)) return this.endFailed(outcome);
      if (outcome.close !== undefined) yield outcome.close();
      return undefined;
    }
    if (outcome.usage !== undefined) this.meter.add(outcome.usage);
    if (outcome.toolCalls.length === 0) return this.judge(outcome);
    this.emptyAnswers = 0;
    this.remember(outcome.text, outcome);
    return yield* this.act(outcome.reasonId, outcome.toolCalls);
  }

  /** The calls of one turn: a human is asked, or they run. */
  private async *act(
    reasonId: string,
    requests: readonly ToolCallRequest[],
    resumed?: OpenCalls,
  ): AsyncGenerator<EngineEvent, RunEnd | undefined> {
    const batch = await abortable(judgeBatch(this.input, requests, this.texts), this.signal);
    if (batch.kind === 'waiting') return yield* this.wait(batch.waiting);
    if (batch.kind === 'rejected') {
      yield this.decidedEvent(batch.decided);
      return this.end('rejected', batch.text);
    }
    for (const decided of batch.decided) yield this.decidedEvent(decided);
    const { input, events, meter, signal } = this;
    const outcome = yield* new Action(input, reasonId, batch.calls, resumed, events, meter, signal).run();
    if (outcome.kind === 'waiting') return yield* this.wait(outcome.waiting);
    this.messages.push(...resultMessages(outcome.calls));
    const answer = directAnswer(outcome.calls);
    return answer === undefined ? undefined : this.end('completed', answer);
  }

  /** Ends the request, and not the run: it goes on when a human has spoken. */
  private async *wait({ tasks, questions }: Waiting): AsyncGenerator<EngineEvent, RunEnd> {
    yield this.events.make('hitl_pending', { pendingTasks: tasks, questions });
    return this.end('pending', this.texts.waits(tasks, questions));
  }

  private decidedEvent({ call, decision: { decision, comment } }: DecidedCall): EngineEvent {
    const { callId, toolName } = call.request;
    const said = comment !== undefined && { comment };
    return this.events.make('hitl_decided', { callId, toolName, args: call.args, ...said, decision });
  }

  /** Adds what came in meanwhile to the conversation; true when there was something. */
  private async takeInputs(): Promise<boolean> {
    const taken = await abortable(this.input.inputs.take(), this.signal);
    if (taken.length === 0) return false;
    this.messages.push(...taken.map(({ message }) => message));
    this.emptyAnswers = 0;
    this.isCorrected = false;
    return true;
  }

  /** Decides what an answer without tool calls means. */
  private judge(answer: Said): RunEnd | undefined {
    const text = isBlank(answer.text) && !isBlank(answer.thinking) ? answer.thinking : answer.text;
    const isCutByProvider = answer.finishReason === 'length' || answer.finishReason === 'content_filter';
    if (isBlank(text) && !isCutByProvider) {
      // An empty assistant message is not sent back: providers refuse it.
      if (this.emptyAnswers === EMPTY_ANSWERS_FORGIVEN) return this.end('empty_answer', this.texts.emptyAnswer);
      this.emptyAnswers += 1;
      this.ask(this.texts.askAgain);
      return undefined;
    }
    this.emptyAnswers = 0;
    this.remember(text, answer);
    const problem = this.input.answerCheck?.problemOf(text);
    if (problem === undefined) return this.end('completed', text);
    if (this.isCorrected) return this.end('invalid_result', this.texts.invalidResult, { problem });
    this.isCorrected = true;
    this.ask(this.texts.askToMend(problem));
    return undefined;
  }

  /** A provider may refuse pictures that an earlier run had: without them it is asked once more. */
  private leavesOutOldPictures({ error }: Failed): boolean {
    if (error.fault !== 'no_pictures') return false;
    const before = this.messages.filter(hasPicture).length;
    this.messages = withoutOldPictures(this.messages, this.input.runId);
    return this.messages.filter(hasPicture).length < before;
  }

  private endFailed({ error, text, thinking, close }: Failed): RunEnd {
    this.openReason = close;
    if (!isBlank(text)) this.remember(text, { thinking, toolCalls: [] });
    const { status } = error.options;
    const reason = error.fault === 'no_pictures' ? 'MODEL_LACKS_VISION' : 'PROVIDER_ERROR';
    const meta = { reason, fault: error.fault, ...(status !== undefined && { status }) };
    return this.end('provider_error', this.texts.providerFailed(error), meta);
  }

  private end(reason: EndReason, text: string, meta?: JsonObject): RunEnd {
    const metrics = this.meter.metrics(this.input.clock.nowMs());
    return this.events.make('run_end', { text, reason, abnormal: reason !== 'completed', metrics }, meta);
  }

  private ask(text: string): void {
    this.messages.push({ role: 'user', parts: [{ kind: 'text', text }], fromHarness: true });
  }

  private remember(text: string, said: Pick<Answered, 'thinking' | 'toolCalls'>): void {
    const toolCalls = said.toolCalls.map(({ providerCallId, toolName, args }) => ({
      id: providerCallId,
      name: toolName,
      args,
    }));
    const thinking = said.thinking !== '' && said.thinking !== text && { thinking: said.thinking };
    this.messages.push({ role: 'assistant', text, ...thinking, toolCalls, runId: this.input.runId });
  }

  private request(): ChatRequest {
    const { runId, agentName, system, tools, language, answerCheck } = this.input;
    return {
      runId,
      agentName,
      system,
      messages: [...this.messages],
      tools: tools.map(({ declaration }) => declaration),
      language,
      ...(answerCheck !== undefined && { resultShape: answerCheck.shape }),
    };
  }
}

/** What nobody has decided or answered yet of what the run waited for. */
function undecided({ suspension }: EngineInput): Waiting | undefined {
  if (suspension === undefined) return undefined;
  const tasks = suspension.tasks.filter(({ callUuid }) => !suspension.decisions.has(callUuid));
  const questions = suspension.questions.filter(({ callUuid }) => !suspension.answers.has(callUuid));
  return tasks.length + questions.length > 0 ? { tasks, questions } : undefined;
}

/** The texts of a turn whose calls all answer the user themselves; undefined = the model goes on. */
function directAnswer(calls: readonly DoneCall[]): string | undefined {
  const isDirect = calls.every(
    ({ call: { plan }, result }) =>
      isRunnable(plan) && plan.tool.returnsDirectly === true && result.outcome === 'ok' && !isBlank(result.text),
  );
  return isDirect ? calls.map(({ result }) => result.text).join('\n') : undefined;
}

const isBlank = (text: string): boolean => text.trim() === '';
