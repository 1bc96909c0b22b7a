import { firstOutcome } from '../../src/sessions/request-ledger.js';

const KEY = { tenantId: 't1', sessionId: 's1', requestId: 'q1' };

describe('firstOutcome', () => {
  const ledger = (rows: readonly object[]) => {
    const asked: unknown[][] = [];
    const query = <Row>(_sql: string, parameters: unknown[]): Promise<Row[]> => {
      asked.push(parameters);
      return Promise.resolve(rows as Row[]);
    };
    return { asked, query };
  };

  it('asks by tenant, session and request', async () => {
    const { asked, query } = ledger([]);
    expect(await firstOutcome(query, KEY, 'h')).toBeUndefined();
    expect(asked).toEqual([['t1', 's1', 'q1']]);
  });

  it.each([['{"runId":"r1"}'], [{ runId: 'r1' }]])('gives the kept outcome, stored as %j', async (response) => {
    const { query } = ledger([{ body_hash: 'h', response }]);
    expect(await firstOutcome(query, KEY, 'h')).toEqual({ runId: 'r1' });
  });

  it('refuses another body', async () => {
    const { query } = ledger([{ body_hash: 'h', response: '{}' }]);
    await expect(firstOutcome(query, KEY, 'other')).rejects.toMatchObject({
      reason: 'REQUEST_ID_CONFLICT',
      message: 'request_id q1 was already used with another body',
    });
  });
});
