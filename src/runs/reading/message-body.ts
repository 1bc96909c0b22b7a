import type { JsonObject } from '../../common/json.js';

/** What a message's input row keeps: the audit reads it when the events are long gone. */
export interface MessageBody {
  readonly text: string;
  readonly resources: readonly { readonly index: number; readonly resourceId: string }[];
  readonly disposition: 'started' | 'queued';
  /** IANA name. */
  readonly timeZone?: string;
  readonly responseSchema?: JsonObject;
}
