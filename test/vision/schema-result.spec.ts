import { checkResponseSchema, checkSchemaResult } from '../../src/vision/schema-result.js';

const RECEIPT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['total', 'lines'],
  additionalProperties: false,
  properties: {
    total: { type: 'number', minimum: 0 },
    day: { type: 'string', format: 'date' },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
  },
  $defs: { line: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } },
} as const;

describe('checkResponseSchema', () => {
  it.each([
    ['a real one', RECEIPT],
    ['an empty one', {}],
    ['keywords it does not know', { type: 'object', 'x-order': 1 }],
    ['recursion', { type: 'object', properties: { child: { $ref: '#' } } }],
    ['data that look like a reference', { const: { $ref: 'https://example.com/a' } }],
    ['a property named $ref', { properties: { $ref: { type: 'string' } } }],
    ['the id of the dialect', { $id: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
    ['its own id', { $id: 'https://example.com/receipt', type: 'object' }],
  ])('accepts %s', (_what, schema) => {
    expect(() => {
      checkResponseSchema(schema);
    }).not.toThrow();
  });

  it.each([
    ['more than 16 KiB', { description: 'a'.repeat(16 * 1024) }, 'at most 16384 bytes'],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'dialect'],
    ['a reference to elsewhere', { items: [{ $ref: 'https://example.com/a.json' }] }, 'its own parts only'],
    ['a relative reference', { allOf: [{ $ref: 'other.json#/a' }] }, 'its own parts only'],
    ['a dynamic reference to elsewhere', { $dynamicRef: 'https://example.com/a#b' }, 'its own parts only'],
    ['a reference to nothing', { $ref: '#/$defs/none' }, 'is not a valid schema'],
    ['a wrong type', { type: 'text' }, 'is not a valid schema'],
    ['a wrong pattern', { type: 'string', pattern: '(' }, 'is not a valid schema'],
    ['asynchronous checks', { $async: true, type: 'object' }, '$async'],
  ])('refuses %s', (_what, schema, problem) => {
    const check = (): void => {
      checkResponseSchema(schema);
    };
    expect(check).toThrow(expect.objectContaining({ reason: 'INVALID_BODY' }));
    expect(check).toThrow(problem);
  });

  it('keeps schemas of the same id apart', () => {
    const [text, number] = ['string', 'number'].map((type) => ({ $id: 'https://example.com/same', type }));
    checkResponseSchema(text!);
    checkResponseSchema(number!);
    expect(checkSchemaResult('"a"', text!).ok).toBe(true);
    expect(checkSchemaResult('"a"', number!).ok).toBe(false);
  });
});

describe('checkSchemaResult', () => {
  const good = { total: 3, day: '2026-08-17', lines: [{ text: 'milk' }] };

  it('reads an answer that fits, in a fence or not', () => {
    expect(checkSchemaResult(JSON.stringify(good), RECEIPT)).toEqual({ ok: true, data: good });
    expect(checkSchemaResult(`\`\`\`json\n${JSON.stringify(good)}\n\`\`\``, RECEIPT)).toEqual({ ok: true, data: good });
    expect(checkSchemaResult('[1]', { type: 'array' })).toEqual({ ok: true, data: [1] });
  });

  it.each([
    ['A text.', 'not valid JSON'],
    ['{"total": -1, "lines": []}', '/total must be >= 0'],
    ['{"total": 1}', "must have required property 'lines'"],
    ['{"total": 1, "lines": [{}]}', '/lines/0'],
    ['{"total": 1, "lines": [], "day": "yesterday"}', '/day must match format "date"'],
    ['{"total": 1, "lines": [], "tip": 1}', '(tip)'],
  ])('says what is wrong with %s', (text, problem) => {
    const checked = checkSchemaResult(text, RECEIPT);
    expect(checked.ok ? undefined : checked.problem).toContain(problem);
  });

  it('stops a schema that would check for ever', () => {
    const slow = { type: 'string', pattern: '^(a+)+$' };
    checkResponseSchema(slow);
    const checked = checkSchemaResult(JSON.stringify(`${'a'.repeat(40)}!`), slow);
    expect(checked).toEqual({ ok: false, problem: 'the answer could not be checked against the schema in time' });
    const endless = { $ref: '#' };
    checkResponseSchema(endless);
    expect(checkSchemaResult('1', endless).ok).toBe(false);
  });
});
