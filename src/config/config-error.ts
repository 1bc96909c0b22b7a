/** Exit code of a start that the configuration stopped (`EX_CONFIG` of sysexits). */
export const CONFIG_EXIT_CODE = 78;

/** The configuration is wrong. The message is one sentence for the operator and holds no secret. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
