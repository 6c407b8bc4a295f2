import type { ChildReference } from '../../core/compile/compile.ts';
import type { Plan } from '../../core/compile/plan.ts';
import type { WorkflowProblem } from '../../host/host.ts';

/** A definition made ready, or everything that is wrong with it. */
export interface Compiled {
  readonly plan?: Plan;
  readonly errors: readonly WorkflowProblem[];
  readonly warnings: readonly WorkflowProblem[];
  /** Features the definition uses and this host does not have. */
  readonly unsupported: readonly string[];
  /** Workflows that its nodes start. */
  readonly children: readonly ChildReference[];
}

/** Others get their turn while a large definition is made ready for a tenant. */
export type Compile = (
  definition: unknown,
  digest: string,
  tenant: string,
  /** `offered`: not registered yet, so that also mistakes are refused that an older version of the host let pass. */
  as: 'offered' | 'registered',
) => Promise<Compiled>;
