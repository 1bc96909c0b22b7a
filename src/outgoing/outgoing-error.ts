/** Why a fetch did not work. */
export type OutgoingFault = 'blocked' | 'unreachable' | 'too_large' | 'timeout' | 'bad_status' | 'bad_url';

/**
 * A fetch that did not work. `kind` is for decisions and logs; `message` is safe for whoever sent the URL: it shows
 * no body and no host, and one text serves every way a target may fail, so it never tells whether a port was open.
 */
export class OutgoingError extends Error {
  constructor(
    readonly kind: OutgoingFault,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'OutgoingError';
  }

  /** `blocked`, `unreachable`, `timeout` and `bad_status` share one text. */
  static notFetched(kind: Exclude<OutgoingFault, 'too_large' | 'bad_url'>, cause: unknown): OutgoingError {
    return new OutgoingError(kind, 'the URL could not be fetched; it must be public and answer in time', { cause });
  }

  static badUrl(problem: string): OutgoingError {
    return new OutgoingError('bad_url', problem);
  }

  static tooLarge(maxBytes: number): OutgoingError {
    return new OutgoingError('too_large', `the URL answers with more than ${maxBytes} bytes`);
  }
}
