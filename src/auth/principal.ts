/** What a caller may do beside running agents. */
export type Scope = 'audit:read' | 'admin';

/** Who calls. Made by the guard of the door, before any byte of the body is read. */
export interface Principal {
  readonly tenantId: string;
  /** The user that a new session belongs to, unless the body names another. */
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** `none`: everybody, on loopback; `key`: a configured key. */
  readonly mode: 'none' | 'key';
}
