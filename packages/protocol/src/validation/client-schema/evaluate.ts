import type { WorkBudget } from '../budget.ts';
import type { Json } from '../../json/json.ts';
import type { Finding } from '../problems.ts';

/** A schema made ready: its keywords, each as a question about the value. `true` and `false` are schemas too. */
export type Schema = boolean | KeywordSchema;

export interface KeywordSchema {
  readonly checks: readonly Check[];
  /** Asks what the keywords next to and inside it have left unevaluated. */
  readonly tracksEvaluated: boolean;
}

/** Whether the value is as one keyword wants it. `seen` gathers what was evaluated, for those who ask about the rest. */
export type Check = (value: Json, at: string, run: Run, seen: Seen | undefined) => boolean;

export interface Run {
  readonly budget: WorkBudget;
  /** Filled with everything that is wrong; absent when only whether something is. */
  readonly findings?: Finding[];
}

/** More are not looked for. */
const MAX_FINDINGS = 200;

/** What keywords of an object or array have looked at. */
export class Seen {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  /** Items up to here. */
  leading = 0;

  add(other: Seen): void {
    for (const name of other.names) this.names.add(name);
    for (const index of other.items) this.items.add(index);
    this.leading = Math.max(this.leading, other.leading);
  }
}

/** Of one entry of a set. */
const ENTRY_BYTES = 40;
const ENTRY_STEPS = 10;

export function sawName(seen: Seen | undefined, name: string, run: Run): void {
  if (seen === undefined) return;
  chargeEntries(1, run);
  seen.names.add(name);
}

export function sawItem(seen: Seen | undefined, index: number, run: Run): void {
  if (seen === undefined) return;
  chargeEntries(1, run);
  seen.items.add(index);
}

/** Every visit of a schema is charged, so that work is bounded by (parts of the schema) × (parts of the value) really met. */
export function fits(schema: Schema, value: Json, at: string, run: Run, seen?: Seen): boolean {
  run.budget.spend(3);
  if (schema === true) return true;
  if (schema === false) {
    report(run, {
      instancePath: at,
      schemaPath: '#',
      keyword: 'false schema',
      params: {},
      message: 'is not allowed',
    });
    return false;
  }
  const own = schema.tracksEvaluated ? new Seen() : seen;
  let ok = true;
  for (const check of schema.checks) {
    run.budget.spend(1);
    if (check(value, at, run, own)) continue;
    ok = false;
    if (run.findings === undefined || run.findings.length >= MAX_FINDINGS) break;
  }
  if (ok && own !== undefined && seen !== undefined && own !== seen) merge(seen, own, run);
  return ok;
}

/** A branch of which it does not matter what is wrong with it. What it saw counts only if it fits. */
export function fitsQuietly(schema: Schema, value: Json, run: Run, seen?: Seen): boolean {
  const quiet: Run = { budget: run.budget };
  return fitsAsBranch(schema, value, '', quiet, seen);
}

export function fitsAsBranch(schema: Schema, value: Json, at: string, run: Run, seen?: Seen): boolean {
  if (seen === undefined) return fits(schema, value, at, run);
  const own = new Seen();
  const ok = fits(schema, value, at, run, own);
  if (ok) merge(seen, own, run);
  return ok;
}

function merge(into: Seen, from: Seen, run: Run): void {
  chargeEntries(from.names.size + from.items.size, run);
  into.add(from);
}

function chargeEntries(count: number, { budget }: Run): void {
  budget.spend(ENTRY_STEPS * count);
  budget.allocate(ENTRY_BYTES * count);
}

export function report(run: Run, finding: Finding): void {
  if (run.findings === undefined || run.findings.length >= MAX_FINDINGS) return;
  run.budget.allocate(200 + finding.instancePath.length);
  run.findings.push(finding);
}

/** Longer names are cut: a place is for people, and there may be many of them. */
const SHOWN_NAME = 128;

/** The place of a member; not made when it will not be read. */
export function inside(at: string, step: string | number, run: Run): string {
  if (run.findings === undefined) return '';
  const name = typeof step === 'number' ? String(step) : step.slice(0, SHOWN_NAME);
  return `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Members are put in order, and every part is written down. */
const PART_STEPS = 30;

/** Charged before a value is compared as a whole: for each of its parts, and for the text that it will be turned into. */
export function chargeWhole(value: Json, budget: WorkBudget): void {
  budget.spend(PART_STEPS);
  if (typeof value === 'string') {
    budget.allocate(2 * value.length);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) chargeWhole(item, budget);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    budget.spend(PART_STEPS);
    budget.allocate(64 + 2 * name.length);
    chargeWhole(member, budget);
  }
}
