/** The configuration is wrong. The message is one sentence for the operator and holds no secret; the process exits with 78. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
