import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Principal } from './principal.js';

/** The caller of an HTTP route, as the guard found it: `handle(@Caller() principal: Principal)`. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal => {
  const { user } = context.switchToHttp().getRequest<{ user?: Principal }>();
  if (user === undefined) throw new Error('this route is public: it has no caller');
  return user;
});
