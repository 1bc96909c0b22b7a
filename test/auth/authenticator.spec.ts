import { createHash } from 'node:crypto';
import { AppError } from '../../src/common/app-error.js';
import { credentialsOf } from '../../src/auth/authenticator.js';
import { KeyAuthenticator } from '../../src/auth/key-authenticator.js';
import { OpenAuthenticator } from '../../src/auth/open-authenticator.js';
import type { KeyEntry } from '../../src/config/auth-keys.js';

const keyOf = (name: string, key: string, scopes: KeyEntry['scopes'] = []): KeyEntry => ({
  name,
  sha256: createHash('sha256').update(key).digest('hex'),
  tenantId: `tenant-${name}`,
  userId: `user-${name}`,
  scopes,
});

const authenticator = new KeyAuthenticator([
  keyOf('a', 'key-a'),
  keyOf('b', 'key-b', ['audit:read']),
  keyOf('c', 'key-c', ['admin']),
]);

describe('credentialsOf', () => {
  it.each([
    [{ authorization: 'Bearer k' }, 'k'],
    [{ authorization: 'bearer  k ' }, 'k'],
    [{ 'x-api-key': 'k' }, 'k'],
    [{ authorization: 'Bearer k', 'x-api-key': 'other' }, 'k'],
    [{ authorization: 'Basic k', 'x-api-key': 'other' }, undefined],
    [{ authorization: 'Bearer a b' }, undefined],
    [{ authorization: 'Bearer ' }, undefined],
    [{ authorization: '' }, undefined],
    [{ 'x-api-key': '' }, undefined],
    [{ 'x-api-key': ['k', 'l'] }, undefined],
    [{}, undefined],
  ])('%j shows %j', (headers, bearer) => {
    expect(credentialsOf(headers)).toEqual({ bearer });
  });
});

describe('KeyAuthenticator', () => {
  it('finds the principal of each key', () => {
    expect(authenticator.authenticate({ bearer: 'key-a' })).toEqual({
      tenantId: 'tenant-a',
      subject: 'user-a',
      scopes: new Set(),
      mode: 'key',
    });
    expect(authenticator.authenticate({ bearer: 'key-b' }).scopes).toEqual(new Set(['audit:read']));
  });

  it('lets admin read the audit', () => {
    expect(authenticator.authenticate({ bearer: 'key-c' }).scopes).toEqual(new Set(['admin', 'audit:read']));
  });

  it.each([undefined, 'key-d', 'key-a ', 'KEY-A', keyOf('a', 'key-a').sha256])('refuses %j', (bearer) => {
    const attempt = (): unknown => authenticator.authenticate({ bearer });
    expect(attempt).toThrow(AppError);
    expect(attempt).toThrow(expect.objectContaining({ reason: 'UNAUTHENTICATED', http: 401, code: 'UNAUTHENTICATED' }));
  });

  it('says nothing of the key in its message', () => {
    expect(() => authenticator.authenticate({ bearer: 'key-d' })).toThrow('the key is not known');
  });
});

describe('OpenAuthenticator', () => {
  it('takes everybody for the one local user, with every scope', () => {
    expect(new OpenAuthenticator().authenticate()).toEqual({
      tenantId: 'default',
      subject: 'local',
      scopes: new Set(['audit:read', 'admin']),
      mode: 'none',
    });
  });
});
