import type { RunFamilies } from './run-families.ts';

/**
 * The series that almost every run and node adds to, looked up once per workflow and per node type instead of once per
 * addition. What does not fit is looked up each time; the registry bounds how many series there can be.
 */

export type RunEnd = 'completed' | 'failed' | 'cancelled';

type Add = (amount: number) => void;

interface EndSeries {
  readonly ended: Add;
  readonly duration: Add;
}

export interface WorkflowSeries extends Readonly<Record<RunEnd, EndSeries>> {
  readonly created: Add;
  readonly backlog: Add;
}

export interface NodeSeries extends Readonly<Record<RunEnd, EndSeries>> {
  /** Present for node types that call an external service without a model. */
  readonly activity: Readonly<Record<ActivityEnd, EndSeries>> | undefined;
}

export type ActivityEnd = 'success' | 'error';

const PROVIDERS: Readonly<Record<string, string | undefined>> = { 'core.http.request': 'http' };

const ALL = 'all';
const MAX_CACHED = 256;

export function createWorkflowSeries(families: RunFamilies): (workflowId: string) => WorkflowSeries {
  return cached((workflowId) => ({
    created: lazy(() => families.runCreated.of(workflowId, ALL)),
    backlog: lazy(() => families.backlog.of(workflowId, ALL)),
    ...byEnd(
      (end) => families.runCompleted.of(end, workflowId),
      (end) => families.runDuration.of(end, workflowId),
    ),
  }));
}

export function createNodeSeries(families: RunFamilies): (type: string) => NodeSeries {
  return cached((type) => {
    const provider = PROVIDERS[type];
    return {
      ...byEnd(
        (end) => families.nodeCompleted.of(type, end),
        (end) => families.nodeDuration.of(type, end),
      ),
      activity:
        provider === undefined
          ? undefined
          : {
              success: activity(families, provider, 'success'),
              error: activity(families, provider, 'error'),
            },
    };
  });
}

function activity(families: RunFamilies, provider: string, end: ActivityEnd): EndSeries {
  return {
    ended: lazy(() => families.activityInvocations.of(provider, end)),
    duration: lazy(() => families.activityDuration.of(provider, end)),
  };
}

function byEnd(ended: (end: RunEnd) => Add, duration: (end: RunEnd) => Add): Record<RunEnd, EndSeries> {
  const of = (end: RunEnd): EndSeries => ({
    ended: lazy(() => ended(end)),
    duration: lazy(() => duration(end)),
  });
  return { completed: of('completed'), failed: of('failed'), cancelled: of('cancelled') };
}

/** A series comes into being with its first addition, so that nothing is reported that never happened. */
function lazy(open: () => Add): Add {
  let add: Add | undefined;
  return (amount) => {
    add ??= open();
    add(amount);
  };
}

function cached<Value>(make: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = make(key);
    if (known.size < MAX_CACHED) known.set(key, value);
    return value;
  };
}
