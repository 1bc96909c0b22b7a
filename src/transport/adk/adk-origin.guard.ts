import { Injectable } from '@nestjs/common';
import { OriginGuard } from '../http/origin.guard.js';

/** The reference servers refuse foreign pages whether a caller has a key or not. */
@Injectable()
export class AdkOriginGuard extends OriginGuard {
  protected override readonly isNeeded: boolean = true;
}
