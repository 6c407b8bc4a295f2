/** What the caller declares about two evidence sets of a cross-runtime diff. Runtime names are only looked up. */
import { type Problem, READABLE, type Side, type SideProblem } from './problem.ts';
import { RUNTIMES, type Runtime } from './vocabulary.ts';

export interface Declared {
  readonly baseRuntime: string | undefined;
  readonly headRuntime: string | undefined;
  readonly basePrefix: string | undefined;
  readonly headPrefix: string | undefined;
}

export function isRuntime(name: string | undefined): name is Runtime {
  return RUNTIMES.some((runtime) => runtime === name);
}

/** Both known and different. */
export function areDistinct(declared: Declared): boolean {
  const { baseRuntime, headRuntime } = declared;
  return isRuntime(baseRuntime) && isRuntime(headRuntime) && baseRuntime !== headRuntime;
}

export function declaredProblems(declared: Declared): SideProblem[] {
  const problems: SideProblem[] = [];
  const add = (side: Side, problem: Problem | undefined): void => {
    if (problem !== undefined) problems.push({ ...problem, side });
  };
  add('base', runtimeProblem(declared.baseRuntime, 'base_runtime'));
  add('head', runtimeProblem(declared.headRuntime, 'head_runtime'));
  if (isRuntime(declared.baseRuntime) && declared.baseRuntime === declared.headRuntime) {
    const needed = 'another runtime than the base; two runs of one runtime are compared by a capability diff';
    add('head', problem('same_runtime', 'head_runtime', JSON.stringify(declared.headRuntime), needed));
  }
  add('base', prefixProblem(declared.basePrefix, 'base_work_dir_prefix'));
  add('head', prefixProblem(declared.headPrefix, 'head_work_dir_prefix'));
  return problems;
}

function runtimeProblem(name: string | undefined, field: string): Problem | undefined {
  if (isRuntime(name)) return undefined;
  const found = name === undefined ? 'nothing' : JSON.stringify(name);
  return problem('unknown_runtime', field, found, `one of ${RUNTIMES.join(', ')}`);
}

/** A prefix is opaque text with a slash at both ends. */
export function prefixProblem(prefix: string | undefined, field: string): Problem | undefined {
  if (prefix === undefined || prefix === '')
    return problem('no_prefix', field, 'nothing', 'the work dir of that run, with a slash at the end');
  if (!prefix.startsWith('/'))
    return problem(
      'prefix_not_absolute',
      field,
      JSON.stringify(prefix),
      'an absolute path, beginning with /',
    );
  if (!prefix.endsWith('/'))
    return problem(
      'prefix_without_slash',
      field,
      JSON.stringify(prefix),
      `a final slash: ${JSON.stringify(`${prefix}/`)}`,
    );
  return undefined;
}

function problem(code: string, field: string, found: string, needed: string): Problem {
  const only = 'cross' as const;
  return { code, effect: 'failed', file: 'declared', field, found, needed, readable: READABLE.all, only };
}
