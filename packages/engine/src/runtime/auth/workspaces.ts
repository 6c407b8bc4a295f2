import { HostError } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { Store } from '../../ports/store.ts';

/**
 * Parts of a tenant. A caller that is bound to one reaches the runs of that one; a caller that is bound to none reaches all. Runs of
 * another tenant stay unknown, whatever the workspace is called.
 */
export interface Workspaces {
  /** The same group of operations; those named take a caller and the id of a run, which the caller must be allowed to reach. */
  guard<Group extends object>(group: Group, names: readonly OfRun<Group>[]): Group;
  /** Throws `run_forbidden` for a run of another workspace. */
  check(caller: Caller, runId: string): Promise<void>;
}

type Operation = (caller: Caller, runId: string, ...rest: never[]) => Promise<unknown>;
type OfRun<Group> = {
  [Name in keyof Group]: Group[Name] extends Operation ? Name : never;
}[keyof Group];

export function createWorkspaces(store: Pick<Store, 'readRun'>): Workspaces {
  async function check(caller: Caller, runId: string): Promise<void> {
    if (caller.workspace === undefined) return;
    const row = await store.readRun(runId, caller.tenant);
    if (row === undefined || row.record.workspace === caller.workspace) return;
    throw new HostError('run_forbidden', 'This run belongs to another workspace than the key.');
  }

  return {
    check,
    guard(group, names) {
      const guarded = { ...group };
      for (const name of names) {
        const operation = group[name] as Operation;
        const checked: Operation = (caller, runId, ...rest) =>
          caller.workspace === undefined
            ? operation(caller, runId, ...rest)
            : check(caller, runId).then(() => operation(caller, runId, ...rest));
        Object.assign(guarded, { [name]: checked });
      }
      return guarded;
    },
  };
}

/** The same operations, for callers that are bound to no workspace: a webhook gets events of all of them. */
export function ofWholeTenant<Group extends Readonly<Record<keyof Group, AnyOperation>>>(
  group: Group,
): Group {
  const guarded = { ...group };
  for (const [name, operation] of Object.entries(group) as [keyof Group, AnyOperation][]) {
    const checked: AnyOperation = (caller, ...rest) =>
      caller.workspace === undefined ? operation(caller, ...rest) : Promise.reject(bound());
    Object.assign(guarded, { [name]: checked });
  }
  return guarded;
}

type AnyOperation = (caller: Caller, ...rest: never[]) => Promise<unknown>;

function bound(): HostError {
  return new HostError(
    'forbidden',
    'Webhooks, schedules and triggers belong to the whole tenant; use a key that is bound to no workspace.',
  );
}
