/**
 * What the text of a client may cost: an expression, a pattern or a schema is a program that the host runs. Work is counted in
 * steps, memory in bytes, and both are charged before they are spent, so that whether something fails depends on nothing but
 * the text, the values and the limits: every process decides alike, and so does a replay.
 *
 * A step is the visit of one part of the program, at most about 50 ns. What takes longer is charged more steps.
 */
export interface WorkLimits {
  readonly steps: number;
  readonly bytes: number;
}

export const DEFAULT_WORK_LIMITS: WorkLimits = { steps: 1_000_000, bytes: 16 * 1024 * 1024 };

export type Resource = keyof WorkLimits;

/** Memory is also work: it is written, read and collected. */
const BYTES_PER_STEP = 64;

export class BudgetExceeded extends Error {
  readonly resource: Resource;
  readonly limit: number;
  /** What was spent, together with what was asked for. */
  readonly observed: number;

  constructor(resource: Resource, limit: number, observed: number) {
    super(`it takes more than ${limit} ${UNITS[resource]}`);
    this.name = 'BudgetExceeded';
    this.resource = resource;
    this.limit = limit;
    this.observed = observed;
  }
}

const UNITS: Readonly<Record<Resource, string>> = { steps: 'steps', bytes: 'bytes of memory' };

/** A class because every decision of a run has one, and every step of an expression asks it. */
export class WorkBudget {
  readonly limits: WorkLimits;
  #steps = 0;
  #bytes = 0;
  #paid: Map<string, object> | undefined;

  constructor(limits: WorkLimits = DEFAULT_WORK_LIMITS) {
    this.limits = limits;
  }

  get steps(): number {
    return this.#steps;
  }

  get bytes(): number {
    return this.#bytes;
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.limits.steps)
      throw new BudgetExceeded('steps', this.limits.steps, Math.ceil(this.#steps));
  }

  /** Memory that is about to be taken, and the work of filling it. */
  allocate(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.bytes)
      throw new BudgetExceeded('bytes', this.limits.bytes, Math.ceil(this.#bytes));
    this.spend(bytes / BYTES_PER_STEP);
  }

  /** What was made and paid for under this budget need not be paid again. */
  recall(key: string): object | undefined {
    return this.#paid?.get(key);
  }

  remember(key: string, made: object): void {
    this.#paid ??= new Map();
    this.#paid.set(key, made);
  }

  /** Begins again, for the next decision. */
  renew(): void {
    this.#steps = 0;
    this.#bytes = 0;
    this.#paid = undefined;
  }
}
