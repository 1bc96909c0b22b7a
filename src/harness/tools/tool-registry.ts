import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { testToolNamesIn } from '../models/script/script-parser.js';
import type { Tool } from '../ports/tool.port.js';
import { EffectsFile } from './effects-file.js';
import { NowTool } from './now-tool.js';
import { ScriptTool } from './script-tool.js';

/** What a tool may know of the run it is made for. */
export interface ToolSetting {
  /** IANA zone of the run; default UTC. */
  readonly timeZone?: string;
}

/** The built-in tools, and the test tools of the `script` model where they are switched on. */
@Injectable()
export class ToolRegistry {
  private readonly makers: ReadonlyMap<string, (setting: ToolSetting) => Tool>;
  private readonly effects: EffectsFile | undefined;

  constructor(
    config: Config,
    private readonly clock: Clock,
  ) {
    const { enabled, effectsFile } = config.harness.scriptModel;
    this.effects = enabled ? new EffectsFile(effectsFile) : undefined;
    this.makers = new Map([['now', ({ timeZone }) => new NowTool(clock, timeZone)]]);
  }

  /** Names an agent file may list. */
  names(): readonly string[] {
    return [...this.makers.keys()];
  }

  /**
   * The tools of an agent, each once, in the order of its file. Names that are not built in are left out.
   */
  toolsOf(names: readonly string[], setting: ToolSetting = {}): Tool[] {
    return [...new Set(names)].flatMap((name) => {
      const make = this.makers.get(name);
      return make === undefined ? [] : [make(setting)];
    });
  }

  /** One test tool for each name that a script calls; none where the test steps are switched off. */
  scriptToolsIn(script: string): Tool[] {
    const { effects } = this;
    if (effects === undefined) return [];
    return testToolNamesIn(script).map((name) => new ScriptTool(name, effects, this.clock));
  }
}
