import type { RunState } from './v1-client.js';

interface EchoedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly parts?: readonly { readonly kind: string; readonly text?: string; readonly sha256?: string }[];
  readonly text?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string }[];
  readonly callId?: string;
}

/** What a model received, as the script `echo` says it. */
export interface Echoed {
  readonly system: string;
  readonly messages: readonly EchoedMessage[];
  readonly tools: readonly string[];
  /** SHA-256 digests. */
  readonly images: readonly string[];
}

/** Reads the result of a run whose script was `echo`. */
export function echoed({ result }: RunState): Echoed {
  return (JSON.parse(result?.data['text'] as string) as Echoed[])[0]!;
}
