/**
 * Who may import whom (docs/architecture.md). A folder lists what it may use; everything else of `src` is an error.
 * Type imports count too: a cycle of types is still a cycle of ideas.
 */
const BLOB_STORE = '^src/storage/[^/]+\\.port\\.ts$';
const FACE = '\\.(service|types|decorator)\\.ts$|principal\\.ts$';

/** The folders of `src` that every folder below may use in addition to its own list. */
const OBSERVABILITY = '^src/observability/';

/** A rule for one folder: it may import itself and `allowed`, nothing else of ours. */
function only(name, from, allowed, comment) {
  return {
    name,
    severity: 'error',
    comment,
    from: { path: from },
    to: { path: '^src/', pathNot: [from, ...allowed] },
  };
}

const dialect = (name, shared = []) =>
  only(
    `transport-${name}`,
    `^src/transport/${name}/`,
    [
      '^src/common/',
      '^src/config/',
      '^src/events/',
      '^src/transport/http/',
      OBSERVABILITY,
      ...shared,
      `^src/(?!transport/|database/).*(${FACE})`,
    ],
    'A dialect turns bytes into calls of services: no other dialect, no engine, no port, no database.',
  );

const DATA = [
  '^src/common/',
  '^src/config/',
  '^src/events/',
  '^src/database/',
  '^src/outgoing/',
  '^src/harness/ports/',
  OBSERVABILITY,
];

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Two modules that import each other break ES module start-up and are one idea in two files.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      comment: 'Every import must lead somewhere; optional packages are still in package.json.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      comment: 'The product runs with the packages of production alone.',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-optional', 'type-only'] },
    },
    {
      name: 'engine-is-plain-typescript',
      severity: 'error',
      comment: 'The engine gets its ports as arguments: no framework, no database, no file system, no rxjs.',
      from: { path: '^src/harness/(engine|ports|questions|trace)/' },
      to: {
        path: 'node_modules/(@nestjs|typeorm|fastify|rxjs|pino|undici|better-sqlite3|mysql2)|^(node:)?(fs|http|https|net|child_process)',
      },
    },
    {
      name: 'no-barrel',
      severity: 'error',
      comment: 'An index.ts hides who uses what.',
      from: {},
      to: { path: '^src/.*/index\\.ts$' },
    },
    only('common', '^src/common/', [], 'common knows nothing of ours.'),
    only('events', '^src/events/', ['^src/common/'], 'The canonical event is data.'),
    only(
      'config',
      '^src/config/',
      ['^src/common/', OBSERVABILITY],
      'Configuration is read before anything else exists.',
    ),
    only(
      'engine-and-ports',
      '^src/harness/(engine|ports|questions|trace)/',
      ['^src/common/', '^src/events/'],
      'Engine and ports stand alone.',
    ),
    only(
      'foundations',
      '^src/(database|storage|outgoing)/',
      ['^src/(database|storage|outgoing)/', '^src/common/', '^src/config/', OBSERVABILITY],
      'Database, storage and outgoing calls know no business.',
    ),
    only('observability', OBSERVABILITY, ['^src/common/', '^src/config/'], 'Logs and metrics know no business.'),
    only(
      'harness',
      '^src/harness/(?!engine/|ports/|questions/|trace/)',
      ['^src/harness/', '^src/common/', '^src/config/', '^src/events/', '^src/outgoing/', BLOB_STORE, OBSERVABILITY],
      'Models and tools reach bytes and runs through ports, and no database.',
    ),
    only(
      'sessions',
      '^src/sessions/',
      [...DATA, BLOB_STORE, '^src/auth/principal\\.ts$'],
      'Sessions know their state, not who runs them.',
    ),
    only('vision', '^src/vision/', [...DATA, BLOB_STORE], 'Pictures know the database and the blob store.'),
    only('auth', '^src/auth/', [...DATA, BLOB_STORE], 'Identity knows no business.'),
    only(
      'runs',
      '^src/runs/',
      [
        ...DATA,
        BLOB_STORE,
        '^src/sessions/',
        '^src/auth/principal\\.ts$',
        '^src/(harness|vision)/[^/]+\\.(service|types)\\.ts$',
        '^src/harness/agent',
        '^src/harness/(questions|trace)/',
      ],
      'Runs use the services of harness and vision, never what is behind them.',
    ),
    only(
      'transport-http',
      '^src/transport/http/',
      ['^src/common/', '^src/config/', '^src/events/', OBSERVABILITY],
      'What all dialects share.',
    ),
    only(
      'transport-run-payload',
      '^src/transport/run-payload/',
      ['^src/common/', '^src/events/', `^src/(?!transport/|database/).*(${FACE})`],
      'The public form of an event, shared by /v1 and gRPC.',
    ),
    dialect('rest', ['^src/transport/run-payload/']),
    dialect('grpc', ['^src/transport/run-payload/']),
    dialect('adk'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/transport/grpc/generated/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
