import { Logger as Nest } from '@nestjs/common';
import { NestLogger } from '../../src/observability/nest-logger.js';
import { PinoLogger } from '../../src/observability/pino-logger.js';
import { PrettyStream } from '../../src/observability/pretty-stream.js';
import { aConfig } from '../support/test-config.js';

/** A logger and the lines it wrote. */
function logged(variables: Record<string, string> = {}): { logger: PinoLogger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { logger: PinoLogger.create(aConfig(variables), { write }), lines };
}

describe('PinoLogger', () => {
  it('writes one line per fact, with the fields of its parents', () => {
    const { logger, lines } = logged();
    logger.child({ traceId: 't1' }).child({ runId: 'r1' }).info('run finished', { execMs: 12 });
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        traceId: 't1',
        runId: 'r1',
        execMs: 12,
        msg: 'run finished',
      },
    ]);
  });

  it('obeys log.level', () => {
    const { logger, lines } = logged({ BRIDLE_LOG_LEVEL: 'warn' });
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines.map((line) => line['msg'])).toEqual(['c', 'd']);
    const silent = logged({ BRIDLE_LOG_LEVEL: 'silent' });
    silent.logger.error('e');
    expect(silent.lines).toEqual([]);
  });

  it('never writes a secret of the configuration', () => {
    const { logger, lines } = logged({ OPENAI_API_KEY: 'sk-secret', DATABASE_URL: 'mysql://u:hunter22@h/db' });
    const child = logger.child({ authorization: 'Bearer abcdefgh', url: 'mysql://u:hunter22@h/db' });
    child.error('provider said sk-secret', { error: new Error('bad key sk-secret') });
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/sk-secret|hunter22|abcdefgh/);
  });
});

describe('PrettyStream', () => {
  const pretty = (isColoured: boolean, fields: Record<string, unknown>): string => {
    const written: string[] = [];
    new PrettyStream({ write: (text: string) => written.push(text) > 0 }, isColoured).write(JSON.stringify(fields));
    return written.join('');
  };
  const line = {
    level: 'warn',
    time: '2026-08-17T10:00:02.123Z',
    msg: 'run lost its worker',
    runId: 'r1',
    note: 'a b',
  };

  it('writes a line for people', () => {
    expect(pretty(false, line)).toBe('10:00:02.123 warn  run lost its worker  runId=r1 note="a b"\n');
  });

  it('paints on a terminal', () => {
    expect(pretty(true, line)).toContain('\u001B[33mwarn \u001B[0m');
  });

  it('shows stacks, causes too, below the line', () => {
    const error = { message: 'outer', stack: 'Error: outer\n    at x', cause: { message: 'inner' } };
    expect(pretty(false, { ...line, error })).toMatch(
      /note="a b"\n {4}Error: outer\n.*at x\n {4}caused by\n {4}inner\n$/,
    );
  });
});

describe('NestLogger', () => {
  it('takes Nest’s words, with the wiring at debug level only', () => {
    const { logger, lines } = logged();
    Nest.overrideLogger(new NestLogger(logger));
    try {
      new Nest('RoutesResolver').log('mapped a route');
      new Nest('Worker').log('started');
      new Nest('Worker').error('broken', new Error('why').stack);
      new Nest('Worker').warn({ reason: 'slow' });
    } finally {
      Nest.overrideLogger(false);
    }
    expect(lines).toMatchObject([
      { level: 'info', msg: 'started', context: 'Worker' },
      { level: 'error', msg: 'broken', context: 'Worker', error: expect.stringContaining('why') },
      { level: 'warn', msg: '{"reason":"slow"}', context: 'Worker' },
    ]);
    expect(lines).toHaveLength(3);
  });
});
