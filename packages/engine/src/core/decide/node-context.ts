import type { AgentRef, Json, JsonObject, WorkBudget } from '@weft/protocol';
import { NodeFailure, type NodeInput } from '../../model/node-type.ts';
import { readableChannels } from '../channels/channels.ts';
import type { Batch } from './live-run.ts';
import type { ExpressionScope, NodePlan } from '../compile/plan.ts';
import type { Payload } from '../../model/run-event.ts';
import { nodeKey } from '../../model/run-state.ts';
import { MASK } from '../redaction/scan/marks.ts';
import { expressionScope, placeOf } from '../expressions/scope.ts';
import {
  isComputedFromSensitive,
  type SensitiveReads,
  WatchedVariables,
} from '../redaction/sensitive-reads.ts';

/** What a node gets to see of its run. */
export function nodeInput(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  inputs: JsonObject,
  reads?: SensitiveReads,
): NodeInput {
  return new NodeView(batch, node, path, inputs, reads);
}

/** A class because every start of a pure node makes one, and few nodes look at more than their inputs. */
class NodeView implements NodeInput {
  readonly #batch: Batch;
  readonly #node: NodePlan;
  /** Collects what the node reads, where the run holds something sensitive. */
  readonly #reads: SensitiveReads | undefined;
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly prepared: unknown;
  readonly inputs: JsonObject;
  readonly iteration: readonly number[];

  constructor(
    batch: Batch,
    node: NodePlan,
    path: readonly number[],
    inputs: JsonObject,
    reads: SensitiveReads | undefined,
  ) {
    this.#batch = batch;
    this.#node = node;
    this.#reads = reads;
    this.nodeId = node.id;
    this.config = node.config;
    this.prepared = node.prepared;
    this.inputs = inputs;
    this.iteration = path;
  }

  get variables(): ReadonlyMap<string, Json> {
    return this.#reads === undefined ? this.#batch.run.state.variables : new WatchedVariables(this.#reads);
  }

  get channels(): ReadonlyMap<string, Json> {
    return readableChannels(this.#batch.run, this.#node, this.#reads);
  }

  get visit(): number {
    return this.#batch.run.state.visits.get(nodeKey(this.nodeId, this.iteration)) ?? 0;
  }

  get configurable(): JsonObject {
    return this.#batch.run.record.configurable;
  }

  get agent(): AgentRef | undefined {
    return this.#node.node.agent;
  }

  get decision(): JsonObject | undefined {
    const taken = this.#batch.run.state.nodes.get(nodeKey(this.nodeId, this.iteration))?.decision;
    this.#reads?.note(taken?.sensitive);
    return taken?.decision;
  }

  get scope(): ExpressionScope {
    return this.scopeWith(this.inputs);
  }

  scopeWith(outputs: JsonObject): ExpressionScope {
    const { inputs, iteration, visit } = this;
    const place = placeOf(this.#batch.run, this.#node, iteration);
    return expressionScope(place, { inputs, outputs, visit, reads: this.#reads });
  }

  get budget(): WorkBudget {
    return this.#batch.run.budget;
  }

  // Both are functions of their own, so that a node may take them out of its input.
  get getVersion(): NodeInput['getVersion'] {
    return (changeId, min, max) => pinnedVersion(this.#batch, this.#node, changeId, min, max);
  }

  get log(): NodeInput['log'] {
    return (level, message, fields) =>
      logLine(this.#batch, this.#node, this.#reads, { level, message, fields });
  }
}

type LogLevel = Payload<'log.appended'>['level'];

/** What a node says after it has looked at something sensitive may tell of it. */
function logLine(
  batch: Batch,
  node: NodePlan,
  reads: SensitiveReads | undefined,
  { level, message, fields }: { level: LogLevel; message: string; fields: JsonObject | undefined },
): void {
  const said = { message, ...(fields !== undefined && { fields }) };
  const isHidden = reads !== undefined && isComputedFromSensitive(reads, node);
  const shown = isHidden ? { message: MASK } : said;
  const { id: nodeId } = node;
  batch.record({
    type: 'log.appended',
    nodeId,
    payload: { level, nodeId, ...said },
    shown: { level, nodeId, ...shown },
  });
}

/** First use pins the newest version; every later use, also after a crash or in a fork, gets the pin. */
function pinnedVersion(batch: Batch, node: NodePlan, changeId: string, min: number, max: number): number {
  if (!Number.isInteger(min) || !Number.isInteger(max) || max < min) {
    throw new NodeFailure(
      'version_out_of_range',
      `getVersion("${changeId}") needs whole numbers with min ≤ max.`,
    );
  }
  const pinned = batch.run.state.pins.get(changeId);
  if (pinned === undefined) {
    batch.record({
      type: 'version.pinned',
      nodeId: node.id,
      payload: { changeId, version: max, nodeId: node.id },
    });
    return max;
  }
  if (pinned < min || pinned > max) {
    throw new NodeFailure(
      'version_out_of_range',
      `This run is pinned to version ${pinned} of "${changeId}", but the node now supports only ${min} to ${max}.`,
      { details: { changeId, pinnedVersion: pinned, currentMin: min, currentMax: max } },
    );
  }
  return pinned;
}
