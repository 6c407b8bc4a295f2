import type { JsonObject } from '@weft/protocol';
import type { LiveRun } from './live-run.ts';
import { SKELETON } from '../fold/payload-skeleton.ts';
import type { NodePlan } from '../compile/plan.ts';
import { shownMembers } from './recorder.ts';
import { saidSensitivity, SensitiveReads } from '../redaction/sensitive-reads.ts';
import { recorded, type Sensitivity } from '../redaction/sensitivity.ts';

/** What a node works with, and what of it is sensitive. */
export interface NodeWork {
  readonly inputs: JsonObject;
  /** Absent where the run holds nothing sensitive. */
  readonly reads: SensitiveReads | undefined;
}

/** For an execution that begins: keeps track only where there is something to keep track of. */
export function newReads(run: LiveRun): SensitiveReads | undefined {
  return run.known === undefined ? undefined : new SensitiveReads(run);
}

/** What of something a node says must not be shown: its own inputs that are sensitive, and what it made from such. */
export function sensitivityOfSaid(
  node: NodePlan,
  said: JsonObject,
  work: NodeWork | undefined,
): Sensitivity | undefined {
  if (work?.reads === undefined) return undefined;
  return saidSensitivity(work.reads, node, work.inputs, said, (member) => SKELETON.has(member));
}

/** The payload of an event that a node tells, and what others may see of it. */
export function sayWithCare(
  { masking }: LiveRun,
  node: NodePlan,
  said: JsonObject,
  work: NodeWork | undefined,
): { readonly payload: JsonObject; readonly shown?: JsonObject } {
  const sensitivity = sensitivityOfSaid(node, said, work);
  if (sensitivity === undefined) return { payload: said };
  return {
    payload: { ...said, ...recorded('sensitive', sensitivity) },
    shown: shownMembers(said, sensitivity, masking),
  };
}
