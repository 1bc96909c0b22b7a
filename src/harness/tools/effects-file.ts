import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One line of the effects file: proof that a test tool did its work. */
export interface EffectLine {
  readonly runId: string;
  /** `tool:<callId>`, the same in every attempt. */
  readonly stepKey: string;
  readonly attempt: number;
  readonly tool: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Where the test tools leave their traces: one JSON line an effect, appended in one write. */
export class EffectsFile {
  constructor(private readonly path: string) {}

  async append(line: EffectLine): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    await appendFile(this.path, `${JSON.stringify(line)}\n`);
  }
}
