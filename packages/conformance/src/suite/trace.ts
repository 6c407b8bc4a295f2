/** A request as a report may show it: never with the key. */
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
  add(step: Step): void;
}

export function createTrace(): Trace {
  const steps: Step[] = [];
  const counts = { requests: 0, expectations: 0 };
  return {
    steps,
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
  };
}

export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return cut(text);
}

export function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
