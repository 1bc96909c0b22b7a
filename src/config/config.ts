import type { Settings } from './settings.js';

/** What environment variables say about the agent `harness_agent`, in place of its file. */
export interface HarnessAgentSettings {
  /** `SYSTEM_PROMPT` */
  readonly systemPrompt?: string;
  /** `DESCRIPTION` */
  readonly description?: string;
  /** `TOOLS` */
  readonly tools?: readonly string[];
}

/**
 * The configuration: every key checked, frozen through and through. Times are milliseconds, sizes bytes; what each
 * key means and accepts stands in `config/default.yaml`. `model.provider` is never `auto` here.
 */
export class Config {
  readonly server: Deep<Settings['server']>;
  readonly http: Deep<Settings['http']>;
  readonly grpc: Deep<Settings['grpc']>;
  readonly storage: Deep<Settings['storage']>;
  readonly database: Deep<Settings['database']>;
  readonly model: Deep<Settings['model']>;
  readonly harness: Deep<Settings['harness']>;
  readonly limits: Deep<Settings['limits']>;
  readonly runs: Deep<Settings['runs']>;
  readonly onDisconnect: Deep<Settings['onDisconnect']>;
  readonly profile: Deep<Settings['profile']>;
  readonly events: Deep<Settings['events']>;
  readonly observers: Deep<Settings['observers']>;
  readonly proxy: Deep<Settings['proxy']>;
  readonly fetch: Deep<Settings['fetch']>;
  readonly vision: Deep<Settings['vision']>;
  readonly auth: Deep<Settings['auth']>;
  readonly docs: Deep<Settings['docs']>;
  readonly log: Deep<Settings['log']>;
  readonly agents: Deep<Settings['agents']> & { readonly harnessAgent: HarnessAgentSettings };

  constructor(settings: Settings, harnessAgent: HarnessAgentSettings = {}) {
    this.server = settings.server;
    this.http = settings.http;
    this.grpc = settings.grpc;
    this.storage = settings.storage;
    this.database = settings.database;
    this.model = settings.model;
    this.harness = settings.harness;
    this.limits = settings.limits;
    this.runs = settings.runs;
    this.onDisconnect = settings.onDisconnect;
    this.profile = settings.profile;
    this.events = settings.events;
    this.observers = settings.observers;
    this.proxy = settings.proxy;
    this.fetch = settings.fetch;
    this.vision = settings.vision;
    this.auth = settings.auth;
    this.docs = settings.docs;
    this.log = settings.log;
    this.agents = { ...settings.agents, harnessAgent };
    deepFreeze(this);
  }
}

type Deep<T> = T extends readonly (infer Item)[]
  ? readonly Deep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Deep<T[Key]> }
    : T;

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
}
