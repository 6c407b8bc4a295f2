import type { Results } from '../results.ts';

/** Results of two scenarios, one of which failed. */
export function sampleResults(): Results {
  return {
    at: '2026-01-02T03:04:05.000Z',
    quick: false,
    machine: { node: 'v20.20.2', platform: 'linux', cores: 2, cpu: 'a <cpu>' },
    scenarios: [
      {
        name: 'sqlite',
        title: 'Workloads',
        rawLimit: 'a bare sketch',
        at: '2026-01-02T03:04:05.000Z',
        seconds: 12.3,
        figures: [
          {
            key: 'sqlite/A/64/runs',
            title: 'A, 64 clients, runs',
            unit: 'runs/s',
            better: 'more',
            values: [90, 10, 50],
            against: { title: 'bare sketch', values: [120, 20, 50] },
          },
          { key: 'sqlite/A/bytes', title: 'A, bytes per run', unit: 'bytes', better: 'less', values: [320] },
        ],
        series: [
          {
            title: 'memory of the host',
            unit: 'MiB',
            points: [
              [0, 100],
              [10, 140],
              [20, 120],
            ],
          },
        ],
      },
      {
        name: 'sse',
        title: 'Streams',
        rawLimit: 'a bare fan-out',
        at: '2026-01-02T03:05:05.000Z',
        seconds: 1,
        failure: 'the host was not ready',
        figures: [],
        series: [],
      },
    ],
  };
}
