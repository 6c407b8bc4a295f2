import type { Plan } from '../../core/compile/plan.ts';
import type { WorkflowProblem } from '../../host/host.ts';

/** A definition made ready, or everything that is wrong with it. */
export interface Compiled {
  readonly plan?: Plan;
  readonly errors: readonly WorkflowProblem[];
  readonly warnings: readonly WorkflowProblem[];
  /** Features the definition uses and this host does not have. */
  readonly unsupported: readonly string[];
}

/** Others get their turn while a large definition is made ready for a tenant. */
export type Compile = (definition: unknown, digest: string, tenant: string) => Promise<Compiled>;
