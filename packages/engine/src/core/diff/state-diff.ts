import type { Json, JsonObject, RunSnapshot } from '@weft/protocol/plain';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';
import { isSameValue } from './same-value.ts';

const COMPARED = ['status', 'variables', 'channels'] as const;

/** How two snapshots differ: whole values of both, only where they differ; null stands for a member that is not there. */
export function stateDiff(a: RunSnapshot, b: RunSnapshot): JsonObject {
  return finish(stateDiffCooperatively(a, b));
}

export function* stateDiffCooperatively(a: RunSnapshot, b: RunSnapshot): CooperativeTask<JsonObject> {
  const differing: [string, Json][] = [];
  for (const name of COMPARED) {
    const [left, right]: [Json, Json] = [a[name] ?? null, b[name] ?? null];
    if (!(yield* isSameValue(left, right))) differing.push([name, { a: left, b: right }]);
  }
  return Object.fromEntries(differing);
}
