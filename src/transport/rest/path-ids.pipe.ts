import type { PipeTransform } from '@nestjs/common';
import { checkId } from '../../common/id-rules.js';

/** Refuses path parameters that no id of `/v1` can be, with `ID_INVALID`; white space at the ends counts here. */
export class PathIds<T extends object> implements PipeTransform<T, T> {
  transform(params: T): T {
    for (const [name, value] of Object.entries(params)) checkId('session', name, String(value));
    return params;
  }
}
