/** Metadata key of a route that asks for no credentials; read by the access guard. */
export const PUBLIC_ROUTE = 'bridle:public-route';

/** `always`, or only while nobody outside this machine can reach the listener. */
export type PublicRoute = 'always' | 'on-loopback';
