import { describe, expect, it } from 'vitest';
import { edge, node, type WorkflowSpec } from '../testing/definitions.ts';
import { simulate } from '../testing/simulation.ts';

describe('effects that wait for a free place', () => {
  const spec: WorkflowSpec = {
    nodes: [
      node('busy', 'test.effect'),
      node('wait', 'core.delay', { ms: 5 }),
      node('a-late', 'test.effect'),
      node('y-early', 'test.effect'),
      node('z-early', 'test.effect'),
      node('go'),
    ],
    edges: [
      edge('go', 'busy'),
      edge('go', 'y-early'),
      edge('go', 'z-early'),
      edge('go', 'wait'),
      edge('wait', 'a-late'),
    ],
  };

  it('get it in the same order in every process', () => {
    const kept = simulate(spec, { limits: { concurrency: 1 } });
    const takenOver = simulate(spec, { limits: { concurrency: 1 } });
    for (const run of [kept, takenOver]) {
      run.start();
      run.passTime();
    }

    takenOver.crash();
    kept.succeed('busy');
    takenOver.succeed('busy');

    expect(takenOver.story()).toEqual(kept.story());
  });
});
