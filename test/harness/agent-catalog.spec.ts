import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/config-error.js';
import { AgentCatalog } from '../../src/harness/agent-catalog.js';
import { aConfig } from '../support/test-config.js';

const GOOD = '---\ndescription: Helps.\nexpose: [v1]\n---\n\nYou help.\n';

function catalogOf(files: Record<string, string>, variables: Record<string, string> = {}): AgentCatalog {
  const dir = mkdtempSync(join(tmpdir(), 'agents-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return new AgentCatalog(aConfig({ BRIDLE_AGENTS_DIR: dir, BRIDLE_RUNS_DEFAULT_AGENT: 'helper', ...variables }));
}

function problemOf(text: string, file = 'broken.md'): string {
  try {
    catalogOf({ 'helper.md': GOOD, [file]: text });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('the file was accepted');
}

describe('the shipped agents', () => {
  const catalog = new AgentCatalog(aConfig());

  it('are a general one and one for pictures', () => {
    expect(catalog.all().map((agent) => agent.name)).toEqual(['harness_agent', 'vision_agent']);
    expect(catalog.find('harness_agent')).toMatchObject({
      tools: ['now'],
      capabilities: [],
      expose: ['v1', 'adk'],
      model: undefined,
      maxTurns: undefined,
    });
    expect(catalog.find('vision_agent')).toMatchObject({ tools: [], capabilities: ['vision', 'image_generation'] });
    expect(catalog.find('Vision_agent')).toBeUndefined();
  });

  it('are shown to the doors that their files name', () => {
    expect(catalog.exposedTo('v1').map((agent) => agent.name)).toEqual(['harness_agent', 'vision_agent']);
    expect(catalog.exposedTo('adk').map((agent) => agent.name)).toEqual(['harness_agent']);
    expect(catalog.exposedTo('solon')).toEqual([]);
  });

  it('tell the vision model the four keys, every intent and how pictures are numbered', () => {
    const prompt = catalog.find('vision_agent')?.systemPrompt ?? '';
    const words = [
      'reply',
      'intent',
      'suggestedTitle',
      'generationItems',
      'prompt',
      'aspectRatio',
      'referenceImageIndexes',
    ];
    for (const key of words) expect(prompt).toContain(`"${key}"`);
    for (const intent of ['reply', 'edit', 'generate', 'clarify']) expect(prompt).toContain(`\`${intent}\``);
    expect(prompt).toContain('numbered from 0');
    expect(prompt).toMatch(/^You look at pictures/);
  });

  it('have only tools that exist, and say which one does not', () => {
    expect(() => catalog.checkTools(['now', 'bash'])).not.toThrow();
    expect(() => catalog.checkTools(['know', 'bash'])).toThrow(
      new ConfigError(
        'the agent harness_agent has the tool now, which does not exist; accepted are know, bash, the nearest is know',
      ),
    );
  });
});

describe('an agent file', () => {
  it('is read whole', () => {
    const text = [
      '---',
      'name: helper',
      'description: Helps.',
      'model: small',
      'tools: [now]',
      'capabilities: [vision]',
      'expose: [adk, v1]',
      'limits:',
      '  maxTurns: 3',
      '---',
      '',
      'First.',
      '',
      '---',
      'Last.',
      '',
    ].join('\r\n');
    expect(
      catalogOf({ 'helper.md': `\uFEFF${text}`, 'notes.txt': 'no agent', '.hidden.md': 'no agent' }).all(),
    ).toEqual([
      {
        name: 'helper',
        description: 'Helps.',
        systemPrompt: 'First.\n\n---\nLast.',
        model: 'small',
        tools: ['now'],
        capabilities: ['vision'],
        expose: ['adk', 'v1'],
        maxTurns: 3,
      },
    ]);
  });

  it.each<[string, string, string[]]>([
    ['no front matter', 'You help.\n', ['broken.md line 1', '---']],
    ['front matter that never ends', '---\ndescription: x\n', ['broken.md line 1', 'closes']],
    ['broken YAML', '---\ndescription: x\nexpose: [v1\n---\nYou help.\n', ['broken.md line', 'not valid YAML']],
    [
      'an unknown field',
      '---\ndescription: x\nexpose: [v1]\ntool: [now]\n---\nx\n',
      ['line 4', 'tool', 'nearest is tools'],
    ],
    ['a wrong value', '---\ndescription: x\nexpose: [v1]\ntools: now\n---\nx\n', ['line 4', 'field tools', '"now"']],
    ['an unknown door', '---\ndescription: x\nexpose: [v1, web]\n---\nx\n', ['line 3', 'expose', 'v1, adk', 'web']],
    ['no door', '---\ndescription: x\n---\nx\n', ['lacks the field expose']],
    ['a door twice', '---\ndescription: x\nexpose: [v1, v1]\n---\nx\n', ['line 3', 'each once']],
    [
      'a wrong limit',
      '---\ndescription: x\nexpose: [v1]\nlimits:\n  maxTurns: 0\n---\nx\n',
      ['line 5', 'limits.maxTurns', '0'],
    ],
    ['an unknown limit', '---\ndescription: x\nexpose: [v1]\nlimits: { turns: 1 }\n---\nx\n', ['line 4', 'limits']],
    ['another name', '---\nname: other\ndescription: x\nexpose: [v1]\n---\nx\n', ['line 2', 'broken']],
    ['no prompt', '---\ndescription: x\nexpose: [v1]\n---\n \n', ['broken.md', 'system prompt']],
  ])('with %s stops the start', (_, text, parts) => {
    const problem = problemOf(text);
    for (const part of parts) expect(problem).toContain(part);
  });

  it('needs a name that a path and an app name can hold', () => {
    expect(problemOf(GOOD, 'my agent.md')).toContain('my agent.md must be named');
  });
});

describe('the catalog', () => {
  it('stops the start when the default agent is not there, or not exposed to /v1', () => {
    expect(() => catalogOf({ 'helpers.md': GOOD })).toThrow(/runs\.defaultAgent is helper.*nearest is helpers/);
    expect(() => catalogOf({ 'helper.md': GOOD.replace('v1', 'adk') })).toThrow(/runs\.defaultAgent is helper/);
    expect(() => new AgentCatalog(aConfig({ BRIDLE_AGENTS_DIR: '/nowhere' }))).toThrow(/agents\.dir \/nowhere.*ENOENT/);
  });

  it('lets SYSTEM_PROMPT, DESCRIPTION and TOOLS change harness_agent only', () => {
    const variables = { SYSTEM_PROMPT: 'Be brief.', TOOLS: '' };
    const catalog = catalogOf({ 'helper.md': GOOD, 'harness_agent.md': GOOD }, variables);
    expect(catalog.find('harness_agent')).toMatchObject({
      systemPrompt: 'Be brief.',
      description: 'Helps.',
      tools: [],
    });
    expect(catalog.find('helper')?.systemPrompt).toBe('You help.');
    expect(() => catalogOf({ 'helper.md': GOOD }, variables)).toThrow(/has no harness_agent\.md/);
  });
});
