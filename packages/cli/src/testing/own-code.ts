import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, type RunDocument } from '@weft/sdk';
import { freePort, type HostProcess, startHostProcess } from './host-process.ts';

const BIN = new URL('../../bin/weft.mjs', import.meta.url).pathname;
const KEY = 'own-code-tests-have-a-key-of-their-own';
const PATIENCE_MS = 40_000;

/** A folder with code of a user, and a host that it is served to. */
export interface Project {
  readonly folder: string;
  readonly client: Client;
  readonly key: string;
  readonly host: HostProcess;
  /** What the functions have noted, a line each (NOTE below). */
  notes(): Promise<string[]>;
  write(path: string, text: string): Promise<void>;
  /** Registers a workflow of one node and starts a run of it. */
  run(typeId: string, inputs?: Readonly<Record<string, unknown>>, settings?: object): Promise<string>;
  /** The run when it has ended. */
  ended(runId: string): Promise<RunDocument>;
  /** `weft worker` in a process of its own. */
  worker(flags?: readonly string[]): WorkerProcess;
  restartHost(): Promise<void>;
  /** A second host that is expected to end by itself. */
  serve(flags: readonly string[]): Promise<{ readonly code: number | null; readonly err: string }>;
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkerProcess {
  readonly pid: number;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
}

export interface ProjectOptions {
  readonly files: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The host serves the folder `nodes` itself. */
  readonly servesNodes?: boolean;
}

/** The text of a module that defines one node type; `body` is its function. `note(text)` writes a line that `notes` reads. */
export function nodeFile(typeId: string, body: string, version = '1.0.0'): string {
  return `import { appendFileSync } from 'node:fs';
import { defineNode, NodeError, Type } from '@weft/sdk/nodes';
const note = (text: string) => appendFileSync(process.env.NOTES ?? '/dev/null', text + '\\n');
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
export const node = defineNode({
  typeId: '${typeId}', version: '${version}',
  inputs: { value: Type.Optional(Type.Unknown()) }, outputs: { value: Type.Unknown() },
  async run({ inputs, invocationId, attempt, signal, emit, heartbeat, log }) {
${body}
  },
});
`;
}

export async function startProject({
  files,
  flags = [],
  env = {},
  servesNodes = false,
}: ProjectOptions): Promise<Project> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-own-code-')));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await mkdir(join(folder, 'nodes'));
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const port = await freePort();
  const notesFile = join(folder, 'notes');
  const all = { ...env, NOTES: notesFile };
  const own = servesNodes ? ['--nodes', join(folder, 'nodes')] : [];
  const start = () =>
    startHostProcess({
      dataFolder: join(folder, 'data'),
      port,
      apiKey: KEY,
      flags: ['--log-format', 'json', ...own, ...flags],
      env: all,
    });
  let host = await start();
  const client = createClient({ baseUrl: host.url, apiKey: KEY });
  const workers: ChildProcess[] = [];
  let registered = 0;

  const project: Project = {
    folder,
    client,
    key: KEY,
    get host() {
      return host;
    },
    write,
    notes: async () => (await readFile(notesFile, 'utf8').catch(() => '')).split('\n').filter(Boolean),
    async run(typeId, inputs = {}, settings = {}) {
      registered += 1;
      const id = `w${registered}`;
      await client.workflows.register(workflow(id, typeId, inputs, settings));
      return (await client.runs.create({ workflowId: id })).runId;
    },
    async ended(runId) {
      await project.until(async () => {
        const { status } = await client.runs.get(runId);
        return status === 'completed' || status === 'failed' || status === 'cancelled';
      });
      return client.runs.get(runId);
    },
    worker(more = []) {
      const child = spawn(
        process.execPath,
        [BIN, 'worker', join(folder, 'nodes'), '--url', host.url, ...more],
        {
          env: { ...process.env, ...all, WEFT_API_KEY: KEY },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      workers.push(child);
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (output += text.toString('utf8')));
      return {
        pid: child.pid ?? 0,
        output: () => output,
        exited: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
        signal: (name) => void child.kill(name),
      };
    },
    async restartHost() {
      host = await start();
    },
    serve(more) {
      const child = spawn(process.execPath, [BIN, 'serve', '--data', 'other', ...more], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let err = '';
      child.stderr.on('data', (text: Buffer) => (err += text.toString('utf8')));
      return new Promise((resolve) => child.once('close', (code) => resolve({ code, err })));
    },
    async until(condition) {
      const deadline = Date.now() + PATIENCE_MS;
      while (!(await condition())) {
        if (Date.now() > deadline)
          throw new Error(`not so in time: ${String(condition)}\n${host.output().slice(-8_000)}`);
        await pause(20);
      }
    },
    async stop() {
      for (const child of workers) child.kill('SIGKILL');
      await host.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  // A host answers that it is ready before its nodes are served.
  await project.until(() => host.output().includes('is listening at'));
  return project;
}

function workflow(
  id: string,
  typeId: string,
  inputs: Readonly<Record<string, unknown>>,
  settings: object,
): Parameters<Client['workflows']['register']>[0] {
  return {
    id,
    name: id,
    version: '1.0.0',
    nodes: [
      {
        id: 'node',
        typeId,
        name: 'Node',
        position: { x: 0, y: 0 },
        config: {},
        inputs: Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [name, { type: 'static', value }]),
        ),
        settings,
      },
    ],
    edges: [],
    triggers: [],
    variables: [],
    metadata: { tags: [] },
    settings: { timeout: 60_000 },
  };
}
