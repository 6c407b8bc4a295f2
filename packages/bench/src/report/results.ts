import { median } from '../measuring/measure.ts';

/** What a whole run of the bench leaves: the JSON file, and all that the terminal, the chart and the page show. */
export interface Results {
  readonly at: string;
  /** Small sizes: a smoke test of the bench, no statement about the host. */
  readonly quick: boolean;
  readonly machine: Machine;
  readonly scenarios: readonly ScenarioResult[];
}

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly cpu: string;
}

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly rawLimit: string;
  readonly at: string;
  readonly seconds: number;
  /** Why it has no figures, or not all. */
  readonly failure?: string;
  readonly figures: readonly Figure[];
  readonly series: readonly Series[];
}

export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  /** One per round, in order. */
  readonly values: readonly number[];
  /** What it is put in relation to, taken in the same rounds. */
  readonly against?: { readonly title: string; readonly values: readonly number[] };
}

/** Something over time, for a plot. */
export interface Series {
  readonly title: string;
  readonly unit: string;
  /** Seconds since the start, and the value. */
  readonly points: readonly (readonly [number, number])[];
}

export function valueOf(figure: Figure): number {
  return median(figure.values);
}

export function ratioOf(figure: Figure): number | undefined {
  const ratios = ratiosOf(figure);
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Each round against the same round of the other, so that a slow minute counts for both. */
export function ratiosOf({ values, against }: Figure): readonly number[] {
  return values.flatMap((value, round) => {
    const other = against?.values[round];
    return other === undefined || other === 0 ? [] : [value / other];
  });
}

export function findFigure(results: Results, key: string): Figure | undefined {
  return results.scenarios.flatMap(({ figures }) => figures).find((figure) => figure.key === key);
}

/** New results over earlier ones: a scenario that was measured again replaces itself, the others stay with their own time. */
export function mergeResults(earlier: Results | undefined, now: Results): Results {
  const again = new Set(now.scenarios.map(({ name }) => name));
  const kept = (earlier?.scenarios ?? []).filter(({ name }) => !again.has(name));
  return { ...now, scenarios: [...kept, ...now.scenarios] };
}
