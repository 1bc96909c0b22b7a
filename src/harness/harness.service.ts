import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error.js';
import { Clock } from '../common/clock.js';
import { Ids } from '../common/ids.js';
import { Config } from '../config/config.js';
import type { EngineEvent } from '../events/harness-event.js';
import type { AgentDefinition, ExposeDoor } from './agent.js';
import { AgentCatalog } from './agent-catalog.js';
import type { EngineInput, EngineLimits } from './engine/engine-input.js';
import { runEngine } from './engine/run-engine.js';
import { ModelRegistry } from './models/model-registry.js';
import type { AgentRun } from './ports/agent-run.js';
import type { ChatMessage, ToolDeclaration } from './ports/chat-model.port.js';
import { AllowAll } from './ports/permissions.port.js';
import type { Tool } from './ports/tool.port.js';
import { ToolRegistry } from './tools/tool-registry.js';

const RETRY_BASE_MS = 1000;

/** Makes an engine run of an agent: its prompt, its model, its tools, its limits. */
@Injectable()
export class HarnessService {
  constructor(
    private readonly agents: AgentCatalog,
    private readonly models: ModelRegistry,
    private readonly tools: ToolRegistry,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {
    agents.checkTools(tools.names());
  }

  /** The name of the model that agents without one of their own use. */
  get defaultModel(): string {
    return this.models.defaultName;
  }

  /** The model that an agent uses. */
  modelOf(agent: Pick<AgentDefinition, 'model'>): string {
    return this.models.modelFor(agent.model).name;
  }

  /** The agents that a door may serve, by name, each with the tools that its model is told of. */
  agentsFor(
    door: ExposeDoor,
  ): readonly { readonly agent: AgentDefinition; readonly tools: readonly ToolDeclaration[] }[] {
    return this.agents.exposedTo(door).map((agent) => ({
      agent,
      tools: this.tools.toolsOf(agent.tools, {}).map(({ declaration }) => declaration),
    }));
  }

  /**
   * Runs an agent.
   * @param signal aborts model and tools within 100 ms; the stream then throws its reason
   * @throws AppError `AGENT_NOT_FOUND` when the agent's file is gone
   */
  run(input: AgentRun, signal: AbortSignal): AsyncIterable<EngineEvent> {
    const { agentName, runId, sessionId, language } = input.run;
    const agent = this.agents.find(agentName);
    if (agent === undefined) throw AppError.notFound('agent', agentName);
    const model = this.models.modelFor(agent.model);
    const engineInput: EngineInput = {
      runId,
      sessionId,
      streamId: this.ids.next(),
      agentName,
      attempt: input.attempt,
      system: [agent.systemPrompt, input.answerInstructions ?? ''].filter((text) => text !== '').join('\n\n'),
      language,
      trace: input.trace,
      ...(input.suspension === undefined ? {} : { suspension: input.suspension }),
      model,
      tools: this.toolsOf(agent, input),
      permissions: new AllowAll(),
      toolContext: {},
      rejectSingle: 'end',
      path: [],
      limits: this.limitsOf(agent),
      ...(input.answerCheck === undefined ? {} : { answerCheck: input.answerCheck }),
      inputs: input.inputs,
      clock: this.clock,
      ids: this.ids,
    };
    return runEngine(engineInput, signal);
  }

  private toolsOf(agent: AgentDefinition, input: AgentRun): Tool[] {
    const setting = input.timeZone === undefined ? {} : { timeZone: input.timeZone };
    const builtIn = this.tools.toolsOf(agent.tools, setting);
    return [...builtIn, ...this.tools.scriptToolsIn(newestUserText(input.trace.messages))];
  }

  private limitsOf(agent: AgentDefinition): EngineLimits {
    const { maxTurns, toolTimeoutMs, toolOutputChars, modelAttempts } = this.config.limits;
    return {
      maxTurns: agent.maxTurns ?? maxTurns,
      toolTimeoutMs,
      toolOutputChars,
      modelAttempts,
      retryBaseMs: RETRY_BASE_MS,
    };
  }
}

/** The text that the `script` model takes as its script. */
function newestUserText(messages: readonly ChatMessage[]): string {
  const newest = messages.findLast((message) => message.role === 'user' && message.fromHarness !== true);
  if (newest?.role !== 'user') return '';
  return newest.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
}
