import type { JsonObject } from '../../common/json.js';

/** A tool call that is about to run, its arguments already fit for the tool. */
export interface PermissionQuestion {
  readonly toolName: string;
  readonly args: JsonObject;
  /** Who calls: the main agent or a sub-agent. */
  readonly agentName: string;
}

/** `deny`: not run, nobody is asked; `ask`: a human decides; the reason is for humans and for the model. */
export type Verdict = { readonly behavior: 'allow' } | { readonly behavior: 'deny' | 'ask'; readonly reason: string };

/** The stage before every tool call, of the main agent and of sub-agents alike (contract engine §7.6). */
export abstract class Permissions {
  abstract judge(question: PermissionQuestion): Promise<Verdict>;
}

/** Every call may run: for hosts without rules. */
export class AllowAll extends Permissions {
  judge(): Promise<Verdict> {
    return Promise.resolve({ behavior: 'allow' });
  }
}
