import fc from 'fast-check';
import type { ChatMessage } from '../../../src/harness/ports/chat-model.port.js';
import { pairedMessages } from '../../../src/harness/trace/paired-messages.js';
import { pairingFault } from '../../support/pairing.js';
import { propertyRuns } from '../../support/property-runs.js';

const id: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd');
const text = fc.string({ maxLength: 3 });

/** Anything that a log may hold: results without calls, calls without results, ids that repeat. */
const message: fc.Arbitrary<ChatMessage> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), parts: fc.constant([]) }),
  fc.record({
    role: fc.constant('assistant' as const),
    text,
    toolCalls: fc
      .uniqueArray(id, { maxLength: 4 })
      .map((ids) => ids.map((each) => ({ id: each, name: 'now', args: {} }))),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    callId: id,
    toolName: fc.constant('now'),
    text,
    isError: fc.boolean(),
  }),
);

const withoutUsers = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  messages.filter((each) => each.role !== 'user');

describe('pairedMessages', () => {
  it('gives each call exactly one result right behind its answer, whatever the log holds', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const paired = pairedMessages(messages, new Set());
        // two users in a row are the conversation's business, not that of the pairs
        expect(pairingFault(withoutUsers(paired))).toBeUndefined();
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  it('keeps all that was said, in order, and every result that stands behind its call', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const paired = pairedMessages(messages, new Set());
        const said = (list: readonly ChatMessage[]) => list.filter((each) => each.role !== 'tool');
        expect(said(paired)).toEqual(said(messages));
        for (const each of paired) {
          if (each.role === 'tool' && !messages.includes(each)) expect(each.text).toBe('not run: cancelled');
        }
        expect(pairedMessages(paired, new Set())).toEqual(paired);
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  it('leaves only calls of the newest answer open, and only those that have no result', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), fc.uniqueArray(id), (messages, open) => {
        const all = pairedMessages(messages, new Set());
        const some = pairedMessages(messages, new Set(open));
        const missing = all.filter(
          (each) => !some.includes(each) && each.role === 'tool' && each.text.startsWith('not run'),
        );
        const kept = all.length - some.length;
        const newest = some.findLast((each) => each.role === 'assistant' && each.toolCalls.length > 0);
        const ids = newest?.role === 'assistant' ? newest.toolCalls.map((call) => call.id) : [];
        expect(kept).toBeLessThanOrEqual(missing.length);
        expect(kept).toBeLessThanOrEqual(ids.filter((each) => open.includes(each)).length);
      }),
      { numRuns: propertyRuns(2000) },
    );
  });
});
