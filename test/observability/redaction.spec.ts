import { AppError } from '../../src/common/app-error.js';
import { Redactor } from '../../src/observability/redaction.js';

const redactor = new Redactor(['sk-secret', 'sk-secret-longer', 'abc']);

describe('Redactor', () => {
  it('hides fields by name at every depth', () => {
    expect(
      redactor.fields({
        runId: 'r1',
        apiKey: 'x',
        headers: { Authorization: 'Bearer x', accept: '*/*', 'set-cookie': ['a=b'] },
        list: [{ password: 'p' }],
        usage: { inputTokens: 3 },
      }),
    ).toEqual({
      runId: 'r1',
      apiKey: '***',
      headers: { Authorization: '***', accept: '*/*', 'set-cookie': '***' },
      list: [{ password: '***' }],
      usage: { inputTokens: 3 },
    });
  });

  it('hides the known secrets wherever they stand, the longest first', () => {
    expect(redactor.text('keys sk-secret-longer, sk-secret and abc')).toBe('keys ***, *** and abc');
    expect(redactor.fields({ url: 'https://h/?k=sk-secret', list: ['sk-secret'] })).toEqual({
      url: 'https://h/?k=***',
      list: ['***'],
    });
  });

  it('hides what follows Bearer and Basic', () => {
    expect(redactor.text('sent authorization: Bearer eyJhbGciOi.x-y_z=, then')).toBe(
      'sent authorization: Bearer ***, then',
    );
  });

  it('makes errors plain, with reason, cause and stack', () => {
    const error = new AppError('STORE_UNAVAILABLE', 'no database', { cause: new Error('mysql://u:sk-secret@h') });
    const { error: shown } = redactor.fields({ error }) as { error: Record<string, unknown> };
    expect(shown).toMatchObject({
      name: 'AppError',
      message: 'no database',
      reason: 'STORE_UNAVAILABLE',
      cause: { name: 'Error', message: 'mysql://u:***@h' },
    });
    expect(shown['stack']).toContain('redaction.spec');
    expect(JSON.stringify(shown)).not.toContain('sk-secret');
  });

  it('makes every value fit for JSON', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const fields = {
      big: 10n,
      bytes: Buffer.from('abc'),
      date: new Date(0),
      set: new Set([1]),
      map: new Map([['a', 1]]),
      none: undefined,
      nothing: null,
      call: () => 1,
    };
    expect(redactor.fields(fields)).toEqual({
      big: '10',
      bytes: '<3 bytes>',
      date: '1970-01-01T00:00:00.000Z',
      set: [1],
      map: [['a', 1]],
      nothing: null,
    });
    expect(() => JSON.stringify(redactor.fields({ circle }))).not.toThrow();
  });
});
