import type { Series } from '../report/results.ts';

export interface Sampler {
  stop(): Series;
}

/** Reads a value at intervals until stopped. */
export function startSampler(
  about: Omit<Series, 'points'>,
  intervalMs: number,
  read: () => number | undefined,
): Sampler {
  const started = performance.now();
  const points: [number, number][] = [];
  const sample = () => {
    const value = read();
    if (value !== undefined) points.push([Math.round((performance.now() - started) / 100) / 10, value]);
  };
  sample();
  const timer = setInterval(sample, intervalMs);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return { ...about, points };
    },
  };
}
