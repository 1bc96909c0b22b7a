import type { JsonObject } from '../../../src/common/json.js';
import { importedMessages } from '../../../src/harness/trace/imported-messages.js';

const model = (...parts: readonly object[]): JsonObject =>
  ({ author: 'agent', content: { role: 'model', parts } }) as unknown as JsonObject;

describe('importedMessages', () => {
  it.each<[string, JsonObject]>([
    ['without content', { author: 'agent' }],
    ['with content that is no object', { content: 'text' }],
    ['without parts', { content: { role: 'model' } }],
    ['with parts of no known kind', model({ inlineData: {} }, { text: 5 }, {})],
    ['with thoughts alone', model({ text: 'hm', thought: true })],
    ['with a call and a result without names', model({ functionCall: { id: 'x' } }, { functionResponse: {} })],
  ])('says nothing for an event %s', (_what, event) => {
    expect(importedMessages(event)).toEqual([]);
  });

  it('joins the texts of an answer, keeps its thinking apart and takes its calls', () => {
    const event = model(
      { text: 'hm', thought: true },
      { text: 'let ' },
      { text: 'me see' },
      { functionCall: { id: 'f1', name: 'now', args: { zone: 'UTC' } } },
      { functionCall: { name: 'later', args: 'bad' } },
    );
    expect(importedMessages(event)).toEqual([
      {
        role: 'assistant',
        text: 'let me see',
        thinking: 'hm',
        toolCalls: [
          { id: 'f1', name: 'now', args: { zone: 'UTC' } },
          { id: 'later', name: 'later', args: {} },
        ],
      },
    ]);
  });

  it('reads results, wherever the wire puts them, before what is said beside them', () => {
    const parts = [
      { text: 'so?' },
      { functionResponse: { id: 'f1', name: 'now', response: { t: 12 } } },
      { functionResponse: { name: 'later', response: { error: 'no' } } },
    ];
    const results = [
      { role: 'tool', callId: 'f1', toolName: 'now', text: '{"t":12}', isError: false },
      { role: 'tool', callId: 'later', toolName: 'later', text: '{"error":"no"}', isError: true },
    ];
    const byUser = { author: 'user', content: { role: 'user', parts } } as unknown as JsonObject;
    expect(importedMessages(byUser)).toEqual([...results, { role: 'user', parts: [{ kind: 'text', text: 'so?' }] }]);
    expect(importedMessages(model(...parts.slice(1)))).toEqual(results);
  });
});
