/**
 * Counters, gauges and histograms of this process, kept as numbers until they are read.
 *
 * 1. Adding is a few additions, and without `of` a look into a map; names and labels are turned into text only when read.
 * 2. A label has a bounded number of values: those after the first `MAX_LABEL_VALUES` are counted as `other`.
 * 3. What is counted never goes down while the process lives.
 */
export interface Registry {
  counter(family: FamilyOptions): Counter;
  histogram(family: FamilyOptions & { readonly buckets: readonly number[] }): Histogram;
  gauge(family: FamilyOptions): Gauge;
  /** Everything as of now, in the order of registration. */
  read(): readonly Family[];
}

export interface FamilyOptions {
  /** In OpenTelemetry's spelling: words separated by dots. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** As in UCUM: `s`, `By`, `{run}`; empty for a plain number. */
  readonly unit: string;
  readonly labels?: readonly string[];
}

export interface Counter {
  /** Label values in the order of the family's labels. */
  add(amount: number, ...values: readonly string[]): void;
  /** One series, for those who add to it often. */
  of(...values: readonly string[]): (amount: number) => void;
}

export interface Histogram {
  observe(value: number, ...values: readonly string[]): void;
  /** One series, for those who add to it often. */
  of(...values: readonly string[]): (value: number) => void;
}

export interface Gauge {
  set(value: number, ...values: readonly string[]): void;
}

export interface Family extends Required<FamilyOptions> {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly series: readonly Series[];
  /** Upper bounds, ascending; empty unless a histogram. */
  readonly buckets: readonly number[];
}

export interface Series {
  readonly values: readonly string[];
  /** The counter or gauge; of a histogram the sum. */
  readonly value: number;
  /** Histograms: observations per bucket, the last one above every bound. */
  readonly counts: readonly number[];
  readonly count: number;
}

export const MAX_LABEL_VALUES = 100;
export const OTHER = 'other';

interface MutableSeries extends Series {
  value: number;
  count: number;
  readonly counts: number[];
}

interface Store {
  readonly options: Required<FamilyOptions>;
  readonly kind: Family['kind'];
  readonly buckets: readonly number[];
  readonly series: Map<string, MutableSeries>;
  /** Values seen so far, one set per label. */
  readonly seen: readonly Set<string>[];
}

export function createRegistry(): Registry {
  const families: Store[] = [];

  function open(kind: Family['kind'], options: FamilyOptions, buckets: readonly number[] = []): Store {
    const { name, help, unit, labels = [] } = options;
    const store: Store = {
      options: { name, help, unit, labels },
      kind,
      buckets,
      series: new Map(),
      seen: labels.map(() => new Set()),
    };
    // Without labels the series exists from the start, so that a rate can be taken of its first step.
    if (labels.length === 0) seriesOf(store, []);
    families.push(store);
    return store;
  }

  return {
    counter(options) {
      const store = open('counter', options);
      return {
        add(amount, ...values) {
          seriesOf(store, values).value += amount;
        },
        of(...values) {
          const series = seriesOf(store, values);
          return (amount) => {
            series.value += amount;
          };
        },
      };
    },
    gauge(options) {
      const store = open('gauge', options);
      return {
        set(value, ...values) {
          seriesOf(store, values).value = value;
        },
      };
    },
    histogram({ buckets, ...options }) {
      const store = open('histogram', options, buckets);
      return {
        observe: (value, ...values) => observe(seriesOf(store, values), buckets, value),
        of(...values) {
          const series = seriesOf(store, values);
          return (value) => observe(series, buckets, value);
        },
      };
    },
    read: () =>
      families.map(({ options, kind, buckets, series }) => ({
        ...options,
        kind,
        buckets,
        series: [...series.values()],
      })),
  };
}

function seriesOf(store: Store, values: readonly string[]): MutableSeries {
  const known = store.series.get(keyOf(values));
  return known ?? newSeries(store, values);
}

function observe(series: MutableSeries, buckets: readonly number[], value: number): void {
  series.value += value;
  series.count += 1;
  let bucket = 0;
  while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket += 1;
  series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
}

function keyOf(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : values.join('\n');
}

function newSeries(store: Store, asked: readonly string[]): MutableSeries {
  const values = asked.map((value, index) => boundedValue(store.seen[index], value));
  const key = keyOf(values);
  const known = store.series.get(key);
  if (known !== undefined) return known;
  const counts = store.kind === 'histogram' ? Array<number>(store.buckets.length + 1).fill(0) : [];
  const series: MutableSeries = { values, value: 0, count: 0, counts };
  store.series.set(key, series);
  return series;
}

function boundedValue(seen: Set<string> | undefined, value: string): string {
  if (seen === undefined || seen.has(value)) return value;
  if (seen.size >= MAX_LABEL_VALUES) return OTHER;
  seen.add(value);
  return value;
}
