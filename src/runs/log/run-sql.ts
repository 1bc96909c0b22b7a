import { UNENDED_STATUSES } from '../../events/run-state.js';

/** The SQL condition that a run has not ended. Literals, because an index on the status serves only them. */
export const UNENDED = `status IN (${UNENDED_STATUSES.map((status) => `'${status}'`).join(', ')})`;
