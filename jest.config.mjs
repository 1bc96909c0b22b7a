/** What every ring shares. ES modules need `--experimental-vm-modules`, which `npm test` sets. */
const shared = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

/** The ring of a folder of `test/`; what has no folder of its own is a unit test. */
const ring = (displayName) => ({ ...shared, displayName, testMatch: [`<rootDir>/test/${displayName}/**/*.spec.ts`] });

export default {
  testTimeout: 30_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '512MB',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      testPathIgnorePatterns: ['<rootDir>/test/(contract|wire|e2e|chaos)/'],
    },
    ring('contract'),
    ring('wire'),
    ring('e2e'),
    ring('chaos'),
  ],
};
