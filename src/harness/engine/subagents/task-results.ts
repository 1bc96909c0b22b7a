import type { TaskEnding } from './child-run.js';

/** A task that ended, as its caller's model reads it. */
export interface TaskReport {
  readonly task: { readonly index: number; readonly agentName: string; readonly description: string };
  readonly ending: TaskEnding;
}

/** The result of a `task` call. */
export function taskText(report: TaskReport): string {
  return taskResult(report, '');
}

/** The result of a `multitask` call: every item in the order of the call, each with its own status. */
export function multitaskText(reports: readonly TaskReport[]): string {
  const items = reports.map((report) => taskResult(report, `<index>${report.task.index}</index>`));
  return ['<multitask_results>', ...items, '</multitask_results>'].join('\n');
}

/** Whatever an agent wrote stays inside its element. */
function taskResult({ task: { agentName, description }, ending: { status, text } }: TaskReport, index: string): string {
  const head = `${index}<description>${escaped(description)}</description><agent_name>${escaped(agentName)}</agent_name>`;
  const result = `<result_status>${status}</result_status><result_content>${escaped(text)}</result_content>`;
  return `<task_result>${head}${result}</task_result>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => ENTITIES[sign]!);
