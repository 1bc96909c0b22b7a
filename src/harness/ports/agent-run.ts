import type { RunFacts } from '../../events/projection.js';
import type { AnswerCheck } from './answer-check.js';
import type { RunInputs } from './run-inputs.port.js';
import type { Suspension, Trace } from './trace.js';

/** What a host gives to run, or to go on with, a run. */
export interface AgentRun {
  readonly run: RunFacts;
  /** From 1; above after a takeover. */
  readonly attempt: number;
  /** IANA name of the message, else of the session. */
  readonly timeZone: string | undefined;
  /** What the run already did, the new message last in its conversation. */
  readonly trace: Trace;
  /** Set when the run goes on after it waited for a human. */
  readonly suspension: Suspension | undefined;
  readonly answerCheck: AnswerCheck | undefined;
  /** Added to the agent's prompt: the shape that this run's answer must have. */
  readonly answerInstructions: string | undefined;
  readonly inputs: RunInputs;
}
