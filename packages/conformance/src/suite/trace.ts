import { shownName } from '@weft/protocol';
import { createMasks, type Masks } from './masks.ts';

/** A request as a report may show it: never with a secret. */
export interface ShownRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ShownAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a check did, in order. It is what `--explain` shows. */
export type Step =
  | { readonly kind: 'exchange'; readonly request: ShownRequest; readonly answer: ShownAnswer }
  | { readonly kind: 'fault'; readonly request: ShownRequest; readonly problem: string }
  | {
      readonly kind: 'expectation';
      readonly claim: string;
      readonly holds: boolean;
      readonly expected?: string;
      readonly actual?: string;
    };

/** Longer texts are cut in reports; expectations look at all of it. */
const SHOWN_CHARACTERS = 4_000;
/** A check that polls for long would fill a report with the same answer; the first and the last steps say enough. */
const KEPT_STEPS = 200;

export interface Trace {
  readonly steps: readonly Step[];
  readonly requests: number;
  readonly expectations: number;
  readonly masks: Masks;
  add(step: Step): void;
  /** A value as a report may show it: without secrets, and not too long. */
  shown(value: unknown): string;
}

/** Takes the secrets that are known from the start, such as the key; what a host gives out later is found as it comes. */
export function createTrace(secrets: readonly string[] = []): Trace {
  const masks = createMasks(secrets);
  const steps: Step[] = [];
  const counts = { requests: 0, expectations: 0 };
  return {
    masks,
    /** Masked once more: a secret may have been shown before it was known to be one. */
    get steps() {
      return steps.map((step) => masked(step, masks));
    },
    get requests() {
      return counts.requests;
    },
    get expectations() {
      return counts.expectations;
    },
    add(step) {
      counts[step.kind === 'expectation' ? 'expectations' : 'requests'] += 1;
      if (steps.length >= KEPT_STEPS) steps.splice(KEPT_STEPS / 2, 1);
      steps.push(step);
    },
    shown(value) {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
      // On one line, whatever the host sent: a line break in it could pass for a line of the report.
      return shownName(cut(masks.mask(text)));
    },
  };
}

function masked<Shown>(value: Shown, masks: Masks): Shown {
  if (typeof value === 'string') return masks.mask(value) as Shown & string;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, masked<unknown>(member, masks)]),
  ) as Shown;
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
