import type { Json, JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import type { Expression } from '../../core/compile/plan.ts';
import type { NodeInput, PureNodeType } from '../../model/node-type.ts';
import { agentIdOf, doubt } from '../people/confidence.ts';
import { closedConfig } from '../config/config-schema.ts';
import { checkedDecision, decided, ratified } from './decided.ts';
import { decisionSchema } from './decision.ts';
import { DECIDE_BY_MODEL, modelDecision, modelSupervisor } from './model-supervisor.ts';
import { compileOrRefuse, evaluateOrFail } from '../config/expressions-in-config.ts';

const optional = Type.Optional;
const decisions = Type.Array(decisionSchema, { minItems: 1 });

const AT_THE_END: JsonObject = { kind: 'terminate', reason: 'plan-done' };

interface Prepared {
  readonly plan: readonly JsonObject[];
  readonly decide?: Expression;
}

export const supervisorNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.orchestrator.supervisor',
  title: 'Supervisor',
  summary:
    'Decides, each time it is entered, which workers run next, whether to ask a person, or that the work is done.',
  config: closedConfig({
    /** CEL that gives the decision; it sees `visit`, how often the supervisor has decided before. */
    decide: optional(Type.String({ minLength: 1 })),
    /** A language model decides among the workers that are listed. */
    decideByModel: optional(DECIDE_BY_MODEL),
    /** Decisions to take in order, then it terminates. */
    mockDecisions: optional(decisions),
    mockDispatchPlan: optional(decisions),
    mockConfidence: optional(Type.Number({ minimum: 0, maximum: 1 })),
    mockPendingDecision: optional(decisionSchema),
  }),
  outputPorts: ['output', 'decision'],
  dependsOn: () => [],
  childWorkflows: (config) => workersOf(config),
  variant: (config) => (config['decideByModel'] === undefined ? undefined : MODEL_SUPERVISOR),
  prepare: (config, tools): Prepared => {
    const { decide } = config;
    const plan = config['mockDecisions'] ?? config['mockDispatchPlan'] ?? pendingPlan(config);
    if (decide !== undefined && plan !== undefined) {
      tools.refuse('/decide', 'The supervisor decides by expression or by a list, not both; remove one.');
    }
    if (typeof decide === 'string') {
      const expression = compileOrRefuse(tools, '/decide', () => tools.expressions.compile(decide));
      return { plan: [], decide: expression };
    }
    if (Array.isArray(plan)) return { plan: plan as JsonObject[] };
    return tools.refuse(
      '',
      'The supervisor has nothing to decide by: give "decide", "decideByModel" or "mockDecisions".',
    );
  },
  run: (input) => {
    const decision = nextDecision(input);
    const confidence = input.config['mockConfidence'] ?? decision['confidence'];
    const ask = doubt(input, agentIdOf(input, 'supervisor'), decision, confidence);
    return ask === undefined ? decided(input, decision) : { outputs: {}, ask };
  },
  answered: ratified,
};

/** A doubted decision is part of the plan: ratified or not, the supervisor has had its turn. */
function pendingPlan(config: JsonObject): Json | undefined {
  const pending = config['mockPendingDecision'];
  return pending === undefined ? undefined : [pending];
}

function nextDecision(input: NodeInput): JsonObject {
  const { plan, decide } = input.prepared as Prepared;
  if (decide === undefined) return plan[input.visit] ?? AT_THE_END;
  return checkedDecision(evaluateOrFail(() => decide(input.scope, input.budget)));
}

const MODEL_SUPERVISOR = modelSupervisor(supervisorNode);

/** Workers that a model may choose. */
function workersOf(config: JsonObject): Record<string, string> {
  if (config['decideByModel'] === undefined) return {};
  return Object.fromEntries(
    modelDecision(config).workers.map(({ workflowId }, index) => [
      `/decideByModel/workers/${index}/workflowId`,
      workflowId,
    ]),
  );
}
