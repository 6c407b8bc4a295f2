import { describe, expect, it } from 'vitest';
import { renderPrometheus } from './prometheus.ts';
import { createRegistry, MAX_LABEL_VALUES } from './registry.ts';

describe('the registry as Prometheus text', () => {
  it('has HELP, TYPE and one line per series of a counter', () => {
    const registry = createRegistry();
    const created = registry.counter({
      name: 'openwop.run.created',
      help: 'Runs created.',
      unit: '{run}',
      labels: ['workflow_id'],
    });

    created.add(1, 'orders');
    created.add(2, 'orders');
    created.add(1, 'say "hi"\\\n');

    expect(renderPrometheus(registry.read())).toBe(
      [
        '# HELP openwop_run_created_total Runs created.',
        '# TYPE openwop_run_created_total counter',
        'openwop_run_created_total{workflow_id="orders"} 3',
        'openwop_run_created_total{workflow_id="say \\"hi\\"\\\\\\n"} 1',
        '',
      ].join('\n'),
    );
  });

  it('has cumulative buckets, a sum and a count of a histogram, with the unit in its name', () => {
    const registry = createRegistry();
    const duration = registry.histogram({
      name: 'weft.commit.duration',
      help: 'Time.',
      unit: 's',
      buckets: [0.5, 1],
    });

    for (const value of [0.25, 0.5, 0.75, 4]) duration.observe(value);

    expect(renderPrometheus(registry.read()).split('\n').slice(2)).toEqual([
      'weft_commit_duration_seconds_bucket{le="0.5"} 2',
      'weft_commit_duration_seconds_bucket{le="1"} 3',
      'weft_commit_duration_seconds_bucket{le="+Inf"} 4',
      'weft_commit_duration_seconds_sum 5.5',
      'weft_commit_duration_seconds_count 4',
      '',
    ]);
  });

  it('leaves out a family with labels that has counted nothing, and shows one without labels as zero', () => {
    const registry = createRegistry();
    registry.counter({ name: 'a', help: 'A.', unit: '', labels: ['x'] });
    registry.gauge({ name: 'b.c', help: 'B.', unit: 'By' });

    const text = renderPrometheus(registry.read());

    expect(text).toBe('# HELP b_c_bytes B.\n# TYPE b_c_bytes gauge\nb_c_bytes 0\n');
  });

  it('counts the values of a label beyond the first hundred together', () => {
    const registry = createRegistry();
    const counter = registry.counter({ name: 'runs', help: 'Runs.', unit: '', labels: ['workflow_id'] });

    for (let index = 0; index < MAX_LABEL_VALUES + 50; index += 1) counter.add(1, `w${index}`);
    counter.add(1, 'w0');

    const [family] = registry.read();
    expect(family?.series).toHaveLength(MAX_LABEL_VALUES + 1);
    expect(family?.series.find(({ values }) => values[0] === 'other')?.value).toBe(50);
    expect(family?.series.find(({ values }) => values[0] === 'w0')?.value).toBe(2);
  });
});
