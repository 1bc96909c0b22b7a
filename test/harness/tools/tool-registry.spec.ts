import { SystemClock } from '../../../src/common/clock.js';
import { ToolRegistry } from '../../../src/harness/tools/tool-registry.js';
import { aConfig } from '../../support/test-config.js';

const registryOf = (variables: Record<string, string> = {}) => new ToolRegistry(aConfig(variables), new SystemClock());
const namesOf = (tools: readonly { declaration: { name: string } }[]) => tools.map((tool) => tool.declaration.name);

describe('ToolRegistry', () => {
  it('gives an agent its tools, each once, and leaves unknown names out', () => {
    expect(registryOf().names()).toEqual(['now']);
    expect(namesOf(registryOf().toolsOf(['now', 'bash', 'now']))).toEqual(['now']);
  });

  it('tells the clock the zone of the run', () => {
    const [now] = registryOf().toolsOf(['now'], { timeZone: 'Asia/Shanghai' });
    expect(now?.declaration.description).toContain('Asia/Shanghai');
  });

  it('makes test tools only where they are switched on', () => {
    const script = 'tools:slow:1,ro_a:2;block:slow:3';
    expect(registryOf().scriptToolsIn(script)).toEqual([]);
    expect(namesOf(registryOf({ BRIDLE_HARNESS_SCRIPT_MODEL_ENABLED: 'true' }).scriptToolsIn(script))).toEqual([
      'slow',
      'ro_a',
    ]);
  });
});
