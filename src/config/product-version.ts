import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../package.json', import.meta.url);

/** The version of this server, from its package. */
export const PRODUCT_VERSION: string = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;
