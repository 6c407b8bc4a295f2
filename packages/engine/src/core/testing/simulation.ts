import { type Json, type JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import type { ChildrenNodeType, EffectNodeType, NodeType, PureNodeType } from '../../model/node-type.ts';
import { testSteps } from './test-steps.ts';
import { CONFORMANCE } from '../../conformance/index.ts';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import type { ChildCommand, Command, Signal, ResolveCommand, StoredEvent } from '../../ports/store.ts';
import { advance, nextTimer, openRun } from '../decide/advance.ts';
import { compileWorkflow } from '../compile/compile.ts';
import { evolve, initialState } from '../fold/evolve.ts';
import { fromStored } from '../fold/from-stored.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';
import type { LogEntry } from '../fold/log-checker.ts';
import type { LiveRun } from '../decide/live-run.ts';
import type { Plan } from '../compile/plan.ts';
import type { CreationRecord, EffectKey, NodeKey, RunLimits, RunState } from '../../model/run-state.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';
import type { Budget, ChildRequest, EffectRequest, Input, Outcome, Step } from '../decide/step.ts';
import { definition, type WorkflowSpec } from './definitions.ts';

/** An effect whose outcomes the test decides. `config.uses` names the ports it makes use of. */
const testEffect: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.effect',
  title: 'Test effect',
  summary: 'Ends as the test says.',
  config: Type.Object({}, { additionalProperties: true }),
  dependsOn: ({ uses }) => (Array.isArray(uses) ? uses.map(String) : ['body']),
  perform: () => Promise.reject(new Error('The core never performs effects.')),
};

/** A pure node that pins a change version and outputs it. */
const testVersion: PureNodeType = {
  kind: 'pure',
  typeId: 'test.version',
  title: 'Test version',
  summary: 'Outputs the pinned version of config.change.',
  config: Type.Object(
    { change: Type.String(), min: Type.Integer(), max: Type.Integer() },
    { additionalProperties: false },
  ),
  run: (input) => {
    const { change, min, max } = input.config as { change: string; min: number; max: number };
    input.log('info', 'asked for a version');
    return { outputs: { output: input.getVersion(change, min, max) } };
  },
};

/** Runs a child, then asks someone about it. */
const testChildThenAsk: ChildrenNodeType = {
  kind: 'children',
  typeId: 'test.childThenAsk',
  title: 'Test child, then ask',
  summary: 'Asks when its child has ended.',
  config: Type.Object({}, { additionalProperties: false }),
  next: (_input, done) =>
    done > 0
      ? { outputs: {}, ask: { kind: 'custom', data: { customKind: 'test' } } }
      : {
          child: {
            workflowId: 'child-workflow',
            inputs: {},
            outputMapping: {},
            onFailure: 'fail',
            propagateCancellation: true,
          },
        },
};

const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(
  [...BUILTIN_NODE_TYPES, ...CONFORMANCE.nodes, testEffect, testSteps, testVersion, testChildThenAsk].map(
    (type) => [type.typeId, type],
  ),
);

export const START = Date.UTC(2026, 0, 1);

const LIMITS: RunLimits = {
  nodeExecutions: 1000,
  runDurationMs: 0,
  concurrency: 8,
  maxPayloadBytes: 262_144,
  loopIterations: 100,
  clarificationRounds: 3,
  maxStateBytes: 4_194_304,
};

const UNBOUNDED: Budget = { maxNodes: 64, maxBytes: 262_144, spent: () => false };

export interface SimulationOptions {
  readonly inputs?: JsonObject;
  readonly sensitiveInputs?: Sensitivity;
  readonly limits?: Partial<RunLimits>;
  readonly budget?: Partial<Budget>;
  readonly random?: number;
  readonly configurable?: JsonObject;
  readonly parent?: CreationRecord['parent'];
  readonly fork?: CreationRecord['fork'];
  /** Workflow id of the definition. */
  readonly workflowId?: string;
}

/** A run with a hand-driven world: the test says when time passes, how effects end and what people ask. */
export interface Simulation {
  readonly plan: Plan;
  readonly record: CreationRecord;
  run: LiveRun;
  readonly log: StoredEvent[];
  /** Effects asked for and not answered. */
  readonly open: Map<EffectKey, EffectRequest>;
  readonly aborted: EffectKey[];
  /** Child runs asked for, every time they were. */
  readonly spawned: ChildRequest[];
  /** Signals to other runs. */
  readonly signals: Signal[];
  now: number;
  step(input: Input): Step;
  /** Steps until nothing is left that needs neither time nor an outcome. */
  settle(input: Input): Step;
  start(): Step;
  succeed(key: EffectKey, outputs?: JsonObject): Step;
  fail(key: EffectKey, error?: { code?: string; retryable?: boolean }): Step;
  command(command: Command): Step;
  /** Answers the open question of a node, as a service key would. */
  answer(nodeId: string, value: Json, rest?: Partial<ResolveCommand>): Step;
  /** The child that the node waits for tells of itself. */
  child(key: NodeKey, status: ChildCommand['status'], rest?: Partial<ChildCommand>): Step;
  /** The running effect streams these pieces, the first of them with the number `from`. */
  stream(key: EffectKey, pieces: readonly string[], from?: number): Step;
  /** Moves the clock to the next timer and ticks. False when there is none. */
  passTime(): boolean;
  /** Forgets everything but the log, as a new holder would, and takes over. */
  crash(): Step;
  /** `type nodeId` of each event, for comparing with the specification. */
  story(): string[];
  payload(type: string, nodeId?: string): JsonObject | undefined;
}

export function compile(spec: WorkflowSpec, workflowId = 'test-workflow'): Plan {
  const document = { ...definition(spec), id: workflowId };
  const result = compileWorkflow(document, {
    digest: 'test-digest',
    nodeTypes: NODE_TYPES,
    expressions: createExpressionCompiler(),
    maxNodes: 20_000,
    maskingDefault: 'mask',
    runtimeCapabilities: new Set(),
  });
  if (result.plan === undefined) throw new Error(`does not compile: ${JSON.stringify(result.errors)}`);
  return result.plan;
}

export function simulate(spec: WorkflowSpec | Plan, options: SimulationOptions = {}): Simulation {
  const plan = 'digest' in spec ? spec : compile(spec, options.workflowId);
  const record: CreationRecord = {
    runId: '01890000-0000-7000-8000-000000000000',
    tenant: 'default',
    workflowId: 'test-workflow',
    workflowVersion: '1.0',
    definitionDigest: plan.digest,
    createdAt: START,
    inputs: options.inputs ?? {},
    ...(options.sensitiveInputs !== undefined && { sensitiveInputs: options.sensitiveInputs }),
    configurable: options.configurable ?? {},
    tags: [],
    metadata: {},
    transport: 'rest',
    engineVersion: 1,
    limits: { ...LIMITS, ...options.limits },
    ...(options.parent !== undefined && { parent: options.parent }),
    ...(options.fork !== undefined && { fork: options.fork }),
  };
  const log: StoredEvent[] = [];
  const open = new Map<EffectKey, EffectRequest>();
  const aborted: EffectKey[] = [];
  const spawned: ChildRequest[] = [];
  const signals: Signal[] = [];
  const budget: Budget = { ...UNBOUNDED, ...options.budget };

  const simulation: Simulation = {
    plan,
    record,
    run: openRun(plan, record, initialState(record, plan)),
    log,
    open,
    aborted,
    spawned,
    signals,
    now: START,
    step(input) {
      const step = advance(
        simulation.run,
        input,
        { now: simulation.now, random: options.random ?? 0 },
        budget,
      );
      log.push(...step.events);
      for (const key of step.aborts) {
        open.delete(key);
        aborted.push(key);
      }
      for (const effect of step.effects) open.set(effect.key, effect);
      spawned.push(...step.children);
      signals.push(...step.signals);
      return step;
    },
    settle(input) {
      let step = simulation.step(input);
      const { commandResult } = step;
      while (step.more) step = simulation.step({ type: 'continue' });
      return commandResult === undefined ? step : { ...step, commandResult };
    },
    start: () => simulation.settle({ type: 'start' }),
    succeed: (key, outputs = {}) => answer(key, { ok: true, outputs }),
    fail: (key, error = {}) =>
      answer(key, {
        ok: false,
        error: {
          code: error.code ?? 'test_failure',
          message: 'It failed.',
          retryable: error.retryable ?? false,
        },
      }),
    command: (command) => simulation.settle({ type: 'command', command }),
    answer: (nodeId, value, rest = {}) =>
      simulation.command({
        type: 'resolve',
        nodeId,
        value,
        by: 'key_1',
        byUser: false,
        viaLink: false,
        ...rest,
      }),
    child: (key, status, rest = {}) =>
      simulation.command({
        type: 'child',
        nodeKey: key,
        childRunId: simulation.run.state.nodes.get(key)?.child?.runId ?? '',
        status,
        ...rest,
      }),
    stream: (key, pieces, from = 0) =>
      simulation.settle({
        type: 'progress',
        key,
        attempt: open.get(key)?.attempt ?? 0,
        chunks: pieces.map((chunk, index) => ({ index: from + index, chunk, isLast: false })),
      }),
    passTime() {
      const due = nextTimer(simulation.run);
      if (due === undefined) return false;
      simulation.now = Math.max(simulation.now, due);
      simulation.settle({ type: 'tick' });
      return true;
    },
    crash() {
      open.clear();
      simulation.run = openRun(plan, record, fold(plan, record, log));
      return simulation.settle({ type: 'recovered' });
    },
    story: () =>
      log.map((event) => (event.nodeId === undefined ? event.type : `${event.type} ${event.nodeId}`)),
    payload(type, nodeId) {
      const found = log.find(
        (event) => event.type === type && (nodeId === undefined || event.nodeId === nodeId),
      );
      return found && (JSON.parse(found.payload) as JsonObject);
    },
  };

  function answer(key: EffectKey, outcome: Outcome): Step {
    const effect = open.get(key);
    if (effect === undefined)
      throw new Error(`no effect ${key} is open; open are: ${[...open.keys()].join(', ')}`);
    open.delete(key);
    return simulation.settle({ type: 'outcome', key, attempt: effect.attempt, outcome });
  }
  return simulation;
}

export function fold(
  plan: Plan,
  record: CreationRecord,
  log: readonly StoredEvent[],
  from?: RunState,
): RunState {
  let state = from ?? initialState(record, plan);
  for (const event of log) state = evolve(state, fromStored(event));
  return state;
}

export function logEntries(log: readonly StoredEvent[]): LogEntry[] {
  return log.map((event) => ({
    sequence: event.seq,
    type: event.type,
    at: event.at,
    payload: JSON.parse(event.payload) as Json,
    ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
  }));
}
