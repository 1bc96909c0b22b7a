import { renderResultInstructions } from '../../src/vision/result-instructions.js';

describe('renderResultInstructions', () => {
  it.each([
    ['en', /stands above .* does not count\..*one JSON value.*\n\{"type":"object"\}$/s],
    ['zh', /上文.*不适用。.*\n\{"type":"object"\}$/s],
  ] as const)('holds the schema and goes before every form that the prompt named (%s)', (language, text) => {
    expect(renderResultInstructions({ type: 'object' }, language)).toMatch(text);
  });
});
