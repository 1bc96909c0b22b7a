import { v7 } from 'uuid';

/** Makes identities, so that tests can decide them. */
export abstract class Ids {
  /** A new id; ours are uuid v7, so that neighbours in time are neighbours in an index. */
  abstract next(): string;
}

export class UuidIds extends Ids {
  next(): string {
    return v7();
  }
}
