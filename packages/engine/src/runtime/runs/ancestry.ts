import type { Ancestry } from '@weft/protocol';
import type { ParentLink } from '../../model/run-state.ts';
import type { RunLog } from '../../ports/store.ts';
import type { Runs } from '../../host/host.ts';
import type { Plans } from '../workflows/plans.ts';

export interface AncestryDependencies {
  readonly store: RunLog;
  readonly plans: Plans;
  /** The same for every process of this host. */
  readonly hostId: () => string;
}

/** Which run started another as a child. A fork has a source, not a parent. */
export function createAncestry({ store, plans, hostId }: AncestryDependencies): Pick<Runs, 'ancestry'> {
  async function parentOf(link: ParentLink | undefined, hostId: string): Promise<Ancestry['parent']> {
    if (link === undefined) return null;
    // A child belongs to its parent's tenant. Asked for without one, a parent that was removed is simply not there.
    const parent = await store.readRun(link.runId, undefined);
    if (parent === undefined) return null;
    const { nodes } = await plans.get(parent.record.definitionDigest, parent.record.tenant);
    const isDispatched = nodes.get(link.nodeId)?.type.typeId === 'core.dispatch';
    return { runId: link.runId, hostId, cause: isDispatched ? 'core.dispatch' : 'core.subWorkflow' };
  }

  return {
    async ancestry(caller, runId) {
      const row = await store.readRun(runId, caller.tenant);
      if (row === undefined) return undefined;
      const id = hostId();
      return { runId, hostId: id, parent: await parentOf(row.record.parent, id) };
    },
  };
}
