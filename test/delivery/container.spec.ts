import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { variableOf } from '../../src/config/key-names.js';
import { loadConfig } from '../../src/config/load-config.js';
import { LEAVES } from '../../src/config/settings.js';
import { stagesOf, variablesOf } from '../support/dockerfile.js';

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly secrets: object;
}

const KNOWN = new Set([...LEAVES.keys()].map(variableOf));
const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'bridle');
const [build = [], runtime = []] = stagesOf('Dockerfile');
const oneOf = (name: string): string | undefined => runtime.findLast((step) => step.name === name)?.rest;

/** What the server would read of a service's variables; a secret file is not there now. */
function configOf(service: Service): ReturnType<typeof loadConfig>['config'] {
  const environment = Object.fromEntries([...variablesOf(runtime), ...Object.entries(service.environment ?? {})]);
  return loadConfig({
    ...environment,
    BRIDLE_DATABASE_URL: 'mysql://bridle:bridle@mysql/bridle',
    OPENAI_API_KEY: '',
    OPENAI_BASE_URL: '',
  }).config;
}

describe('compose.yaml', () => {
  it('starts two servers that take calls and two that execute runs', () => {
    expect(ours.map(([name, service]) => [name, configOf(service).server.role])).toEqual([
      ['api-1', 'api'],
      ['api-2', 'api'],
      ['worker-1', 'worker'],
      ['worker-2', 'worker'],
    ]);
  });

  it('names no variable and no place that does not exist', () => {
    const variables = ours.flatMap(([, { environment = {} }]) => Object.keys(environment));
    const named = variables.filter((name) => name.startsWith('BRIDLE_'));
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !KNOWN.has(name))).toEqual([]);
    for (const [, { volumes = [], secrets = [], depends_on = {} }] of services) {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        expect(source.startsWith('./') ? existsSync(source) : source in compose.volumes).toBe(true);
      }
      expect(secrets.filter((name) => !(name in compose.secrets))).toEqual([]);
      expect(Object.keys(depends_on).filter((name) => !(name in compose.services))).toEqual([]);
    }
  });

  it('waits for health, comes back after a crash, and leaves time to hand runs back', () => {
    for (const [name, { depends_on = {}, healthcheck, restart, image }] of services) {
      expect([name, restart]).toEqual([name, 'unless-stopped']);
      for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy');
      // Those of the image have its HEALTHCHECK.
      if (image !== 'bridle') expect(healthcheck).toBeDefined();
    }
    for (const [, service] of ours) {
      const graceMs = Number.parseInt(service.stop_grace_period ?? '0', 10) * 1000;
      expect(graceMs).toBeGreaterThan(configOf(service).server.shutdownMs + 5000);
    }
  });

  it('has the servers that nginx looks for, and believes nginx alone', () => {
    const upstreams = [...readFileSync('config/nginx/bridle.conf', 'utf8').matchAll(/^\s*server ([\w-]+):(\d+) /gm)];
    const ports = ['8000', '50051'];
    expect(upstreams.map(([, name, port]) => `${name}:${port}`)).toEqual(
      ports.flatMap((port) => ours.map(([name]) => `${name}:${port}`).filter((name) => name.startsWith('api'))),
    );
    const nginx = compose.services['nginx']?.networks?.default.ipv4_address;
    for (const [, service] of ours) expect(configOf(service).http.trustProxy).toEqual([nginx]);
  });
});

describe('Dockerfile', () => {
  it('sets keys that exist, and may keep its data', () => {
    const variables = variablesOf(runtime);
    const named = [...variables.keys()].filter((name) => name.startsWith('BRIDLE_'));
    expect(named.filter((name) => !KNOWN.has(name))).toEqual([]);
    expect(oneOf('VOLUME')).toBe(variables.get('BRIDLE_STORAGE_DIR'));
  });

  it('runs the server itself as a user without rights, so that a signal reaches it', () => {
    expect(oneOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(JSON.parse(oneOf('CMD') ?? '')).toEqual(['node', 'dist/main.js']);
    expect(oneOf('STOPSIGNAL')).toBe('SIGTERM');
    expect(oneOf('ENTRYPOINT')).toBeUndefined();
    const [, probe = ''] = /CMD (\[.*\])$/.exec(oneOf('HEALTHCHECK') ?? '') ?? [];
    expect((JSON.parse(probe) as string[])[2]).toContain('/livez');
  });

  it('copies only what exists, and what .dockerignore lets in', () => {
    const admitted = readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean);
    expect(admitted[0]).toBe('*');
    const entries = admitted.slice(1).map((line) => line.replace('!', ''));
    for (const entry of entries) expect([entry, existsSync(entry)]).toEqual([entry, true]);
    const copied = [...build, ...runtime]
      .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from') && !rest.startsWith('. '))
      .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
    expect(copied.filter((path) => !entries.includes(path))).toEqual([]);
  });

  it('leaves the compiler and the development packages behind', () => {
    const commands = build.filter(({ name }) => name === 'RUN').map(({ rest }) => rest);
    expect(commands.at(-1)).toContain('npm prune --omit=dev');
    expect(runtime.some(({ rest }) => rest.includes('apt-get'))).toBe(false);
  });
});
