/** What the wire tells of an agent. */
interface AgentFacts {
  readonly name: string;
  readonly description: string;
  readonly systemPrompt: string;
}

interface ToolFacts {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: object;
}

interface AppSummary {
  readonly name: string;
  readonly rootAgentName: string;
  readonly description: string;
  readonly language: 'python';
  readonly isComputerUse: boolean;
  readonly agents: unknown;
}

export interface AppInfo extends AppSummary {
  readonly agents: Readonly<Record<string, object>>;
}

/** An app in the detailed list; its agents are left open there. */
export function toAppSummary({ name, description }: AgentFacts): AppSummary {
  return { name, rootAgentName: name, description, language: 'python', isComputerUse: false, agents: null };
}

/** An app with its agent and the tools of that. */
export function toAppInfo(agent: AgentFacts, tools: readonly ToolFacts[]): AppInfo {
  const { name, description, systemPrompt } = agent;
  const info = { name, description, instruction: systemPrompt, tools: tools.map(toTool), sub_agents: [] };
  return { ...toAppSummary(agent), agents: { [name]: info } };
}

/** A tool without parameters has no schema. */
function toTool({ name, description, parameters }: ToolFacts): object {
  const properties = 'properties' in parameters ? parameters.properties : undefined;
  const hasParameters = typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
  const declaration = { description, name, ...(hasParameters && { parametersJsonSchema: parameters }) };
  return { functionDeclarations: [declaration] };
}
