import { createBoundedCache } from '../collections/bounded-cache.ts';
import { createEphemeralMap } from '../collections/ephemeral-map.ts';
import type { ServedTask } from './served-task.ts';
import type { TypeLane } from './task-board.ts';

/** Where the lines of a worker go. */
export interface TaskSink {
  /** False: no more tasks until it signals that there is room again. */
  send(line: string): boolean;
  /** Only if there is room at once. */
  offer(line: string): void;
  end(): void;
}

export interface ServedType {
  readonly typeId: string;
  readonly version: string;
  readonly digest: string;
}

export interface SessionAbout {
  readonly workerId: string;
  readonly tenant: string;
  readonly name: string;
  readonly sdk: string | undefined;
  readonly connectedAt: number;
  readonly types: readonly ServedType[];
}

export type CancelReason = 'cancelled' | 'timeout' | 'lease_lost' | 'shutdown';

interface Cancel {
  readonly taskId: string;
  readonly lease: number;
  readonly reason: CancelReason;
}

/** Answered results that a repeated report may name; at least the newest half of them. */
const REMEMBERED = 4_000;
/** A worker that takes none of these does not read; it learns from the answers to its reports. */
const MOST_CANCELS = 2_000;

/** One worker that is connected to this process. A class because there may be thousands. */
export class WorkerSession {
  readonly about: SessionAbout;
  readonly held = createEphemeralMap<ServedTask>();
  lanes: readonly TypeLane[] = [];
  /** The lane that comes first the next time. */
  turn = 0;
  capacity: number;
  /** By the monotonic clock. */
  leaseUntil: number;
  /** Tasks that are being made ready for it. */
  expected = 0;
  reports = 0;
  /** Tasks that are sent once more over a new stream. */
  resends: ServedTask[] = [];
  isOver = false;
  sink: TaskSink | undefined;
  isFull = false;
  #cancels: Cancel[] = [];
  /** Task and lease → whether the result became durable. */
  readonly #answered = createBoundedCache<string, Promise<boolean>>(REMEMBERED);

  constructor(about: SessionAbout, capacity: number, leaseUntil: number) {
    this.about = about;
    this.capacity = capacity;
    this.leaseUntil = leaseUntil;
  }

  /** How many more tasks it may get now. */
  get credit(): number {
    if (this.isOver || this.sink === undefined || this.isFull) return 0;
    return this.capacity - this.held.size - this.expected;
  }

  get load(): number {
    return (this.held.size + this.expected) / this.capacity;
  }

  get isDraining(): boolean {
    return this.capacity === 0;
  }

  get state(): 'active' | 'draining' | 'disconnected' {
    if (this.sink === undefined) return 'disconnected';
    return this.isDraining ? 'draining' : 'active';
  }

  send(line: string): void {
    if (this.sink !== undefined && !this.sink.send(line)) this.isFull = true;
  }

  cancel(cancel: Cancel): void {
    if (this.#cancels.length >= MOST_CANCELS) return;
    this.#cancels.push(cancel);
    this.sendCancels();
  }

  sendCancels(): void {
    while (this.sink !== undefined && !this.isFull && this.#cancels.length > 0) {
      this.send(`${JSON.stringify({ type: 'cancel', ...this.#cancels.shift() })}\n`);
    }
  }

  close(reason: 'replaced' | 'shutdown' | 'lease_lost' | 'revoked'): void {
    const { sink } = this;
    this.sink = undefined;
    sink?.offer(`${JSON.stringify({ type: 'close', reason })}\n`);
    sink?.end();
  }

  answeredBefore(taskId: string, lease: number): Promise<boolean> | undefined {
    return this.#answered.get(`${lease} ${taskId}`);
  }

  answered(taskId: string, lease: number, isDurable: Promise<boolean>): void {
    this.#answered.set(`${lease} ${taskId}`, isDurable);
  }
}
