import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type {
  FromNodeProcess,
  Loaded,
  ServedNode,
  Assignment,
  Standstill,
  ToNodeProcess,
} from './process-messages.ts';

/** One process with code of users. It ends with its host, whatever that ends of. */
export interface NodeProcess {
  readonly pid: number | undefined;
  /** Resolves when it serves, or has nothing to serve; rejects with what is wrong with its code. */
  readonly ready: Promise<readonly ServedNode[]>;
  readonly ended: Promise<Ended>;
  begin(assignment: Assignment): void;
  /** Its tasks end, then it does; those that take longer than the assignment's `graceMs` are handed back. */
  drain(): void;
  kill(): void;
}

export interface Ended {
  /** How, for people: `SIGKILL`, `exit code 1`. */
  readonly how: string;
  /** The main thread stood still. */
  readonly standstill: Standstill | undefined;
  /** Types with tasks when it was last heard of. */
  readonly busy: readonly string[];
  /** Its session; undefined before it had one. */
  readonly workerId: string | undefined;
}

export interface NodeProcessOptions {
  readonly heapMb: number;
  /** A process that says nothing for so long is killed, even its watchdog being frozen. */
  readonly silenceMs: number;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  readonly onLoaded: (loaded: Loaded) => void;
}

const ENTRY = new URL('./child/node-process-entry.js', import.meta.url);
const LONGEST_LINE = 8_192;

export function startNodeProcess(options: NodeProcessOptions): NodeProcess {
  const child = spawn(process.execPath, [`--max-old-space-size=${options.heapMb}`, ENTRY.pathname], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    env: environment(),
  });
  let standstill: Standstill | undefined;
  let busy: readonly string[] = [];
  let workerId: string | undefined;
  let nodes: readonly ServedNode[] = [];
  let settle: { resolve(nodes: readonly ServedNode[]): void; reject(error: Error): void } | undefined;
  const ready = new Promise<readonly ServedNode[]>((resolve, reject) => {
    settle = { resolve, reject };
  });
  ready.catch(() => undefined);

  eachLine(child.stdout, (line) => options.onLine('stdout', line));
  eachLine(child.stderr, (line) => options.onLine('stderr', line));
  eachLine(child.stdio[4] as Readable | null, (line) => {
    standstill = JSON.parse(line) as Standstill;
  });

  const silence = silenceTimer(child, options.silenceMs);
  child.on('message', (message: FromNodeProcess) => {
    silence.heard();
    switch (message.kind) {
      case 'loaded':
        options.onLoaded(message);
        if (message.nodes.length === 0) settle?.resolve([]);
        return;
      case 'serving':
        ({ workerId, nodes } = message);
        settle?.resolve(nodes);
        return;
      case 'failed':
        settle?.reject(new Error(message.message));
        return;
      case 'busy':
        busy = message.types;
        return;
      case 'alive':
    }
  });

  const ended = new Promise<Ended>((resolve) => {
    const end = (how: string) => {
      silence.stop();
      settle?.reject(new Error(`The process for node types has ended (${how}).`));
      resolve({ how, standstill, busy, workerId });
    };
    child.once('error', (error) => end(error.message));
    // After what it wrote has been read.
    child.once('close', (code, signal) => end(signal ?? `exit code ${String(code)}`));
  });

  const send = (message: ToNodeProcess) => {
    if (child.connected) child.send(message);
  };
  return {
    pid: child.pid,
    ready,
    ended,
    begin(assignment) {
      silence.heard();
      send(assignment);
    },
    drain: () => send({ kind: 'drain' }),
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The key of the host, and what else is meant for the host alone, is not the business of code of users. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WEFT_')));
}

function silenceTimer(child: ChildProcess, silenceMs: number): { heard(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    heard() {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill('SIGKILL'), silenceMs);
      timer.unref();
    },
    stop: () => clearTimeout(timer),
  };
}

/** A line that is too long is cut into several. */
function eachLine(stream: Readable | null, take: (line: string) => void): void {
  if (stream === null) return;
  let begun = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) for (const piece of pieces(line)) take(piece);
    while (begun.length > LONGEST_LINE) {
      take(begun.slice(0, LONGEST_LINE));
      begun = begun.slice(LONGEST_LINE);
    }
  });
  stream.on('end', () => {
    if (begun !== '') take(begun);
  });
}

function pieces(line: string): string[] {
  const text = line.replace(/\r$/, '');
  if (text.length <= LONGEST_LINE) return [text];
  return text.match(new RegExp(`[^]{1,${LONGEST_LINE}}`, 'g')) ?? [];
}
