import { SetMetadata } from '@nestjs/common';
import { PUBLIC_ROUTE, type PublicRoute } from '../common/public-route.js';

/** The route asks for no key, in any mode. Its handler has no `@Caller()`. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC_ROUTE, 'always' satisfies PublicRoute);
