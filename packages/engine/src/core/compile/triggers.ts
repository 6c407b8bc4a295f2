import type { WorkflowDefinition, WorkflowTrigger } from '@weft/protocol';
import { compileValidator, nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems, schemaMessage } from './problems.ts';
import type { ChannelPlan, TriggerPlan, WatchedChannel } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

const TriggerConfig = Type.Object(
  {
    channel: nameOf({ minLength: 1, maxLength: 256 }),
    onlyFrom: Type.Optional(Type.Enum(['child', 'parent', 'any'])),
    debounceMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  },
  { additionalProperties: false },
);
const checkConfig = compileValidator(TriggerConfig);

interface TriggerContext {
  readonly drafts: ReadonlyMap<string, NodeDraft>;
  readonly declaredIds: ReadonlySet<string>;
  readonly channels: ReadonlyMap<string, ChannelPlan>;
  readonly problems: Problems;
}

/** Nodes that start when a channel is written, by node id, in order of it. Several triggers may start one node. */
export function* compileTriggers(
  definition: WorkflowDefinition,
  context: TriggerContext,
): CooperativeTask<Map<string, TriggerPlan>> {
  const watched = new Map<string, WatchedChannel[]>();
  const triggers = new Map<string, TriggerPlan>();
  if (definition.triggers.length === 0) return triggers;
  const targets = new Set(definition.edges.map((edge) => edge.targetNodeId));
  for (const [index, trigger] of definition.triggers.entries()) {
    yield;
    if (trigger.type !== 'channel-write' || trigger.enabled === false) continue;
    const channel = watchedChannel(trigger, index, context);
    const node = triggeredNode(trigger, index, targets, context);
    if (channel === undefined || node === undefined) continue;
    const channels = watched.get(node.id);
    if (channels === undefined) watched.set(node.id, [channel]);
    else channels.push(channel);
  }
  for (const nodeId of [...watched.keys()].sort()) {
    const node = context.drafts.get(nodeId) as NodeDraft;
    const behind = reachable(node);
    yield;
    const again = yield* onlyBehind(node, behind);
    checkLoops(again, context.problems);
    triggers.set(nodeId, {
      nodeId,
      channels: watched.get(nodeId) ?? [],
      again: again.map(({ id }) => id).sort(),
      behind: withBodies(behind, context.drafts),
    });
  }
  return triggers;
}

function watchedChannel(
  { config = {} }: WorkflowTrigger,
  index: number,
  { channels, problems }: TriggerContext,
): WatchedChannel | undefined {
  const found = checkConfig(config);
  for (const problem of found) {
    problems.error(
      `${pointer('triggers', index, 'config')}${problem.path}`,
      'trigger_config',
      schemaMessage(problem),
    );
  }
  if (found.length > 0) return undefined;
  const { channel, onlyFrom = 'any', debounceMs = 0 } = config as Static<typeof TriggerConfig>;
  if (!channels.has(channel)) {
    problems.error(
      pointer('triggers', index, 'config', 'channel'),
      'unknown_channel',
      `The workflow declares no channel "${channel}"; declare it under channels.`,
    );
    return undefined;
  }
  return { channel, onlyFrom, debounceMs };
}

function triggeredNode(
  { nodeId }: WorkflowTrigger,
  index: number,
  targets: ReadonlySet<string>,
  { drafts, declaredIds, problems }: TriggerContext,
): NodeDraft | undefined {
  const refuse = (code: string, message: string): undefined => {
    problems.error(pointer('triggers', index, 'nodeId'), code, message);
  };
  if (nodeId === undefined || !declaredIds.has(nodeId)) {
    return refuse('unknown_node', 'A channel-write trigger names in nodeId the node that it starts.');
  }
  const node = drafts.get(nodeId);
  if (node === undefined) return undefined; // has a problem of its own
  if (node.incoming.length > 0 || targets.has(nodeId)) {
    const way = targets.size === 0 ? 'Give the workflow edges' : 'Remove the edges that lead to it';
    return refuse(
      'triggered_node_has_edges',
      `Node "${nodeId}" would be started by the trigger and by the nodes before it. ${way}.`,
    );
  }
  if (node.scope.loop !== undefined) {
    return refuse(
      'triggered_node_in_loop',
      `Node "${nodeId}" is in the body of a loop; trigger a node outside.`,
    );
  }
  return node;
}

/** Everything behind the node, itself included. */
function reachable(node: NodeDraft): Set<NodeDraft> {
  const seen = new Set([node]);
  // The set grows while it is walked.
  for (const member of seen) for (const edge of member.outgoing) seen.add(edge.target as NodeDraft);
  return seen;
}

/** Of what is behind the node, that to which no other way leads. */
function* onlyBehind(node: NodeDraft, behind: ReadonlySet<NodeDraft>): CooperativeTask<NodeDraft[]> {
  const only = new Set(behind);
  let before: number;
  do {
    yield;
    before = only.size;
    for (const member of only) {
      const isReachedElsehow = member.incoming.some((edge) => !only.has(edge.source as NodeDraft));
      if (member !== node && isReachedElsehow) only.delete(member);
    }
  } while (only.size < before);
  return [...only];
}

/** Visits do not distinguish the iterations of a loop. */
function checkLoops(members: readonly NodeDraft[], problems: Problems): void {
  for (const { id, index, type } of members) {
    if (type.kind !== 'loop') continue;
    problems.error(
      pointer('nodes', index),
      'loop_behind_trigger',
      `Loop "${id}" would be run several times by a channel-write trigger. Put the loop into a workflow of its own and run that.`,
    );
  }
}

function withBodies(nodes: ReadonlySet<NodeDraft>, drafts: ReadonlyMap<string, NodeDraft>): Set<string> {
  const ids = new Set([...nodes].map(({ id }) => id));
  for (const draft of drafts.values()) if (isInside(draft, ids)) ids.add(draft.id);
  return ids;
}

function isInside({ scope }: Pick<NodeDraft, 'scope'>, ids: ReadonlySet<string>): boolean {
  return scope.loop !== undefined && (ids.has(scope.loop.id) || isInside(scope.loop, ids));
}
