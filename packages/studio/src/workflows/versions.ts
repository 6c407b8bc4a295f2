import type { WorkflowSummary } from '@weft/sdk';

export interface WorkflowRow {
  /** The version that runs get which name none. */
  readonly current: WorkflowSummary;
  readonly versions: number;
}

/** One row per workflow, by name. */
export function currentVersions(all: readonly WorkflowSummary[]): WorkflowRow[] {
  const byId = grouped(all);
  return [...byId.values()]
    .flatMap((versions): WorkflowRow[] => {
      const newest = versions.toSorted((x, y) => y.registeredAt.localeCompare(x.registeredAt))[0];
      const current = versions.find((version) => version.current === true) ?? newest;
      return current === undefined ? [] : [{ current, versions: versions.length }];
    })
    .toSorted((x, y) => x.current.name.localeCompare(y.current.name));
}

function grouped(all: readonly WorkflowSummary[]): Map<string, WorkflowSummary[]> {
  const byId = new Map<string, WorkflowSummary[]>();
  for (const workflow of all) byId.set(workflow.id, [...(byId.get(workflow.id) ?? []), workflow]);
  return byId;
}
