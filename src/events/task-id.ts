/** The id of a sub-agent's task: it names its call. */
export function taskIdOf(callId: string, index: number): string {
  return `${callId}.${index}`;
}

/** The call that a task belongs to. */
export function callOfTask(taskId: string): string {
  return taskId.slice(0, taskId.lastIndexOf('.'));
}
