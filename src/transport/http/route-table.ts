import type { FastifyInstance } from 'fastify';

interface Route {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** Every route of the server, so that a wrong method can be told from an unknown path. */
export class RouteTable {
  private readonly routes = new Map<string, Route>();

  /** Remembers every route that is registered from now on. */
  constructor(fastify: FastifyInstance) {
    fastify.addHook('onRoute', ({ method, url }) => this.add(Array.isArray(method) ? method : [method], url));
  }

  private add(methods: readonly string[], url: string): void {
    const route = this.routes.get(url) ?? { segments: url.split('/'), methods: new Set<string>() };
    for (const method of methods) route.methods.add(method);
    this.routes.set(url, route);
  }

  /** The methods that a path (without query) has, sorted; none when no route fits it. */
  methodsOf(path: string): string[] {
    const segments = path.split('/').map(decoded);
    const methods = [...this.routes.values()]
      .filter((route) => fits(route.segments, segments))
      .flatMap((route) => [...route.methods]);
    return [...new Set(methods)].sort();
  }
}

function fits(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern.at(-1) === '*') {
    const fixed = pattern.slice(0, -1);
    return path.length > fixed.length && fits(fixed, path.slice(0, fixed.length));
  }
  return (
    pattern.length === path.length &&
    pattern.every((segment, index) => (segment.startsWith(':') ? path[index] !== '' : segment === path[index]))
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
