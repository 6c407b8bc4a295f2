import { HostError, type Json, type JsonObject } from '@weft/protocol';
import type { Plan, VariablePlan } from '../../core/compile/plan.ts';
import type { RunLimits } from '../../model/run-state.ts';
import type { Caller, NewRun } from '../../host/host.ts';
import type { ReceiverCheck } from '../egress/receiver.ts';
import type { Conformance } from '../../ports/conformance.ts';
import type { Models } from '../../ports/models.ts';
import type { HostLimits } from '../../host/limits.ts';
import { checkBudget } from './budget-option.ts';
import { jsonBytes } from '../effects/json-safe.ts';
import { ENGINE_VERSION, FORCED_ENGINE_VERSIONS } from '../../model/versions.ts';

/** What a request for a run must hold to before anything is written. Each check throws a HostError that names the field. */
export function checkNewRun(caller: Caller, request: NewRun, plan: Plan, host: OptionRules): void {
  checkOptions(caller, request, plan, host);
  checkInputs(request.inputs, plan);
}

/** By what a host holds the options of a run. */
interface OptionRules {
  readonly limits: HostLimits;
  /** Absent on a live host. */
  readonly conformance?: Conformance | undefined;
  readonly models: Pick<Models, 'offered'>;
}

/** The options of a new run or a fork. */
export function checkOptions(
  caller: Caller,
  request: Pick<NewRun, 'configurable' | 'metadata'>,
  plan: Plan,
  { limits, conformance, models }: OptionRules,
): void {
  checkMetadata(request.metadata, limits.maxMetadataBytes);
  checkMockProvider(caller, request.configurable, conformance);
  checkProvider(request.configurable, models);
  checkBudget(request.configurable);
  checkCeiling(request.configurable, 'recursionLimit', limits.maxNodeExecutions, 'limits.maxNodeExecutions');
  checkCeiling(
    request.configurable,
    'maxLoopIterations',
    limits.maxLoopIterations,
    'limits.maxLoopIterations',
  );
  if (limits.maxRunDurationMs > 0) {
    checkCeiling(request.configurable, 'runTimeoutMs', limits.maxRunDurationMs, 'limits.maxRunDurationMs');
  } else checkPositive(request.configurable, 'runTimeoutMs');
  plan.checkConfigurable(request.configurable);
}

/** Callbacks carry a link that answers for a person, so where they may go is decided before the run exists. */
export function checkCallback({ callbackUrl }: NewRun, check: ReceiverCheck): void {
  const complaint = callbackUrl === undefined ? undefined : check(callbackUrl);
  if (complaint === undefined) return;
  throw new HostError('validation_error', `callbackUrl ${complaint}.`, { field: 'callbackUrl' });
}

/** The engine version to stamp: the forced one for a test key, else our own. */
export function engineVersionFor(caller: Caller, forced: number | undefined): number {
  if (forced === undefined) return ENGINE_VERSION;
  if (!caller.test) {
    throw new HostError(
      'force_engine_version_forbidden',
      'X-Force-Engine-Version is for test keys only. Leave the header out.',
    );
  }
  const { min, max } = FORCED_ENGINE_VERSIONS;
  if (!Number.isInteger(forced) || forced < min || forced > max) {
    throw new HostError(
      'unsupported_force_engine_version',
      `X-Force-Engine-Version must be a whole number from ${min} to ${max}.`,
      { min, max },
    );
  }
  return forced;
}

/** The caps in force for one run: the smaller of what the client and the host say, and the workflow's own. */
export function effectiveLimits(
  request: Pick<NewRun, 'configurable'>,
  plan: Plan,
  limits: HostLimits,
): RunLimits {
  const durations = [request.configurable['runTimeoutMs'], limits.maxRunDurationMs].filter(
    (value): value is number => typeof value === 'number' && value > 0,
  );
  const { timeout = 0 } = plan.definition.settings;
  return {
    nodeExecutions: smaller(request.configurable['recursionLimit'], limits.maxNodeExecutions),
    runDurationMs: durations.length === 0 ? 0 : Math.min(...durations),
    ...(timeout > 0 && { workflowTimeoutMs: timeout }),
    concurrency: limits.runConcurrency,
    maxPayloadBytes: limits.maxPayloadBytes,
    maxStateBytes: limits.maxStateBytes,
    loopIterations: smaller(request.configurable['maxLoopIterations'], limits.maxLoopIterations),
    clarificationRounds: limits.clarificationRounds,
    deadLetters: true,
  };
}

function smaller(asked: Json | undefined, most: number): number {
  return typeof asked === 'number' ? Math.min(asked, most) : most;
}

function checkMetadata(metadata: JsonObject, limit: number): void {
  if (Object.keys(metadata).length === 0) return;
  const observed = jsonBytes(metadata);
  if (observed <= limit) return;
  throw new HostError('validation_error', `metadata has ${observed} bytes; at most ${limit} are kept.`, {
    field: 'metadata',
    limit,
    observed,
  });
}

function checkMockProvider(
  caller: Caller,
  { mockProvider }: JsonObject,
  conformance: Conformance | undefined,
): void {
  if (mockProvider === undefined) return;
  if (!caller.test || conformance === undefined) {
    throw new HostError('mock_provider_forbidden', 'configurable.mockProvider is for test keys only.', {
      field: 'configurable.mockProvider',
    });
  }
  const problem = conformance.mockProviderProblem(mockProvider);
  if (problem !== undefined) {
    throw new HostError(problem.code, problem.message, {
      field: `configurable.mockProvider${problem.path}`,
      supported: [...conformance.mockProviders],
    });
  }
}

/** What no provider of the host can be is refused at once; the model's name and the policy are looked at when it is asked. */
function checkProvider(configurable: JsonObject, { offered }: Pick<Models, 'offered'>): void {
  const provider = configurable['ai.provider'];
  if (provider === undefined || offered === undefined) return;
  const supported = offered.providers.map(({ name }) => name);
  if (supported.some((name) => name === provider)) return;
  throw new HostError(
    'validation_error',
    `configurable["ai.provider"] must be a provider of this host: ${supported.join(', ')}.`,
    { field: 'configurable.ai.provider', supported },
  );
}

function checkPositive(configurable: JsonObject, key: string): number | undefined {
  const value = configurable[key];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw new HostError('validation_error', `configurable.${key} must be a whole number of at least 1.`, {
    field: `configurable.${key}`,
    key,
    min: 1,
  });
}

function checkCeiling(configurable: JsonObject, key: string, max: number, ceiling: string): void {
  const value = checkPositive(configurable, key);
  if (value === undefined || value <= max) return;
  throw new HostError(
    'validation_error',
    `configurable.${key} is ${value}, above this host's ${ceiling} of ${max}. Ask for at most ${max}.`,
    { field: `configurable.${key}`, key, value, min: 1, max },
  );
}

export function checkInputs(inputs: JsonObject, plan: Plan): void {
  for (const variable of plan.variables.values()) {
    const value = Object.hasOwn(inputs, variable.name) ? inputs[variable.name] : undefined;
    const field = `inputs.${variable.name}`;
    if (value === undefined) {
      if (!variable.required || variable.defaultValue !== undefined) continue;
      throw new HostError('validation_error', `${field} is required by the workflow.`, { field });
    }
    if (hasType(value, variable.type)) continue;
    throw new HostError('validation_error', `${field} must be of type ${variable.type}.`, {
      field,
      expected: variable.type,
    });
  }
}

/** Names of inputs that the workflow does not declare: the protocol has them accepted. Undefined when there are none. */
export function undeclaredInputs(inputs: JsonObject, { variables }: Plan): string[] | undefined {
  let names: string[] | undefined;
  for (const name of Object.keys(inputs)) if (!variables.has(name)) (names ??= []).push(name);
  return names;
}

function hasType(value: Json, type: VariablePlan['type']): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
}
