import type { Json, JsonObject } from '../../../common/json.js';
import { AdkRefusal } from '../adk-refusal.js';
import type { JsonFault } from '../json-scan.js';

/** What is wrong with one value, in pydantic's words. */
export interface Fault {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: JsonObject;
}

/** One entry of a 422 body; the order of its keys is the wire's. */
export interface Issue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: Json;
  readonly ctx?: JsonObject;
}

export function toIssue(fault: Fault, loc: readonly (string | number)[], input: Json | undefined): Issue {
  return {
    type: fault.type,
    loc,
    msg: fault.msg,
    ...(input !== undefined && { input }),
    ...(fault.ctx && { ctx: fault.ctx }),
  };
}

export const MISSING: Fault = { type: 'missing', msg: 'Field required' };
export const EXTRA: Fault = { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' };
export const NO_OBJECT: Fault = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};

/** `value_error` with a text of ours. */
export function valueError(text: string): Fault {
  return { type: 'value_error', msg: `Value error, ${text}`, ctx: { error: {} } };
}

/** The 422 answer that lists what is wrong with a request. */
export function refuse(issues: readonly Issue[]): AdkRefusal {
  const summary = issues.map((issue) => `${issue.loc.join('.')}: ${issue.type}`).join(', ');
  return new AdkRefusal({ status: 422, body: { detail: issues } }, summary);
}

/** The 422 answer to a text that is not JSON. */
export function invalidJson(fault: JsonFault): AdkRefusal {
  return refuse([
    {
      type: 'json_invalid',
      loc: ['body', fault.offset],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: fault.message },
    },
  ]);
}
