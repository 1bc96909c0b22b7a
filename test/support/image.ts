import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stagesOf, variablesOf, type Instruction } from './dockerfile.js';

/** What a Dockerfile builds, as folders of this machine. */
export interface Image {
  /** The root of its last stage. */
  readonly root: string;
  /** Where its command starts. */
  readonly workdir: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

export interface ImageOptions {
  /** A folder that is there and empty. */
  readonly folder: string;
  /** What is run in place of a RUN's command; undefined leaves it out. */
  readonly commandOf: (command: string) => string | undefined;
  /** The variables of every command. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/** Builds the image of `./Dockerfile` without an engine: each stage is a folder, each absolute path lies in it. */
export async function buildImage(options: ImageOptions): Promise<Image> {
  const context = join(options.folder, 'context');
  copyContext(context);
  const stages = new Map<string, Stage>();
  let last: Stage | undefined;
  for (const [index, instructions] of stagesOf('Dockerfile').entries()) {
    const [, name = String(index)] = /\sAS\s+(\S+)$/i.exec(instructions[0]!.rest) ?? [];
    last = new Stage(join(options.folder, `stage-${name}`), context, stages, options);
    stages.set(name, last);
    for (const instruction of instructions) await last.follow(instruction);
    last.variables = new Map([...variablesOf(instructions)].map(([key, value]) => [key, last!.mapped(value)]));
  }
  return last!;
}

class Stage implements Image {
  workdir: string;
  variables: ReadonlyMap<string, string> = new Map();
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];

  constructor(
    readonly root: string,
    private readonly context: string,
    private readonly others: ReadonlyMap<string, Stage>,
    private readonly options: ImageOptions,
  ) {
    this.workdir = root;
    mkdirSync(root, { recursive: true });
  }

  async follow({ name, rest }: Instruction): Promise<void> {
    switch (name) {
      case 'WORKDIR':
        this.workdir = join(this.root, rest);
        mkdirSync(this.workdir, { recursive: true });
        this.giveAway();
        return;
      case 'COPY':
        this.copy(rest);
        return;
      case 'RUN':
        await this.run(rest);
        return;
      case 'CMD':
        this.command = JSON.parse(rest) as string[];
        return;
      case 'HEALTHCHECK':
        this.healthCheck = JSON.parse(/CMD (\[.*\])$/.exec(rest)?.[1] ?? '[]') as string[];
        return;
    }
  }

  /** A text in which absolute paths of the image are those of this machine. */
  mapped(text: string): string {
    return text.replace(/(?<=^|[\s:=])\/(?:app|data)\b/g, (path) => join(this.root, path));
  }

  private copy(rest: string): void {
    const words = rest.split(/\s+/);
    const from = /^--from=(\S+)$/.exec(words[0]!)?.[1];
    const paths = from === undefined ? words : words.slice(1);
    const source = from === undefined ? this.context : this.others.get(from)!.root;
    const to = join(this.workdir, paths.at(-1)!);
    for (const path of paths.slice(0, -1)) {
      const found = join(source, path);
      // The content of a folder is copied, a file gets its place in the folder.
      const target = statSync(found).isDirectory() ? to : join(to, basename(path));
      cpSync(found, target, { recursive: true, verbatimSymlinks: true });
    }
    this.giveAway();
  }

  /** To whoever executes the steps. */
  private giveAway(): void {
    const { uid, gid = uid } = this.options;
    if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, this.root]);
  }

  private async run(rest: string): Promise<void> {
    const command = this.options.commandOf(rest);
    if (command === undefined) return;
    const { env, uid, gid } = this.options;
    const child = spawn('sh', ['-c', this.mapped(command)], {
      cwd: this.workdir,
      env,
      ...(uid !== undefined && { uid, gid: gid ?? uid }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`RUN ${rest} ended with ${code}:\n${output}`);
  }
}

/** What `.dockerignore` lets in; it leaves everything out and names the exceptions. */
function copyContext(folder: string): void {
  const [everything, ...exceptions] = readFileSync('.dockerignore', 'utf8').split('\n').filter(Boolean);
  if (everything !== '*' || exceptions.some((line) => !/^![\w.-]+$/.test(line))) {
    throw new Error('.dockerignore must be `*` and the names that are let in');
  }
  for (const line of exceptions) cpSync(line.slice(1), join(folder, line.slice(1)), { recursive: true });
}
