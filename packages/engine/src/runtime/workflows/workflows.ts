import {
  fullForm,
  HostError,
  isJsonObject,
  isName,
  type Json,
  type JsonObject,
  shownName,
  type WorkflowDefinition,
} from '@weft/protocol';
import { canonicalDigest } from '../../core/json/canonical-digest.ts';
import { credentialsInDefinition } from '../../core/compile/definition-credentials.ts';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import type {
  Caller,
  PinnedType,
  RegisterOptions,
  Registration,
  WorkflowProblem,
  Workflows,
  WorkflowSummary,
} from '../../host/host.ts';
import type { WorkflowRegistry, WorkflowRow } from '../../ports/store.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { type Clock, yieldTurn } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { ChildReference } from '../../core/compile/compile.ts';
import type { Compile, Compiled } from './compile-definition.ts';
import type { RandomBytes } from '../runs/ids.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { OwnedTriggers } from '../triggers/owned-triggers.ts';
import type { Pin } from './pin-definition.ts';
import type { Plans } from './plans.ts';
import { createRegistrationWriter, versionExists } from './write-registration.ts';

export interface WorkflowDependencies {
  readonly store: WorkflowRegistry;
  readonly committer: Committer;
  readonly compile: Compile;
  readonly plans: Plans;
  readonly pin: Pin;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  /** Schedules and webhook triggers that definitions declare. */
  readonly owned: OwnedTriggers;
  /** A schedule may be due. */
  readonly wake: () => void;
  /** A test host takes definitions with credentials in them, and warns. */
  readonly test: boolean;
  /** Called after a definition became current, or was found to be registered. */
  readonly onRegistered: (tenant: string, workflowId: string) => Promise<void>;
}

const SHOWN_PROBLEMS = 50;
const KEPT_SKETCHES = 1_000;
/** Reading a longer definition takes so long that someone else should go first before the next. */
const LARGE_TEXT = 65_536;

interface Complete {
  readonly full: Json;
  readonly digest: string;
  /** As it will be kept. */
  readonly text: string;
  readonly pins: readonly PinnedType[];
  /** What is registered under the same id and version. */
  readonly known: WorkflowRow | undefined;
}

type Sketch = Pick<WorkflowSummary, 'name' | 'nodes'>;

/**
 * Definitions: named by tenant, id and version, identified by the SHA-256 of their canonical JSON, kept in full form.
 *
 * N-4. A registered definition names the version of every node type that workers serve, and keeps it: what is served later changes
 *      neither the definition nor its runs.
 */
export function createWorkflows(dependencies: WorkflowDependencies): Omit<Workflows, 'keep' | 'waiting'> {
  const { store, compile, plans, limits } = dependencies;
  const { write, settleTriggers } = createRegistrationWriter(dependencies);
  /** By digest, which names its content for ever. */
  const sketches = createBoundedCache<string, Sketch>(KEPT_SKETCHES);

  async function register(
    caller: Caller,
    definition: unknown,
    options: RegisterOptions,
  ): Promise<Registration> {
    const { full, digest, text, known } = await complete(caller.tenant, definition, options.dev);
    const compiled = await examine(full, digest, caller.tenant, options.alongside);
    refuseProblems(compiled, options.strict);
    const document = full as WorkflowDefinition & Json; // its shape was just checked
    const { id, version } = document;
    const isKnown = known?.digest === digest;
    if (isKnown && (known.current || !options.dev)) {
      if (known.current) await settleTriggers(caller, document);
      // Another process may have registered it since this one last looked.
      await dependencies.onRegistered(caller.tenant, id);
      return { id, version, digest, created: false, warnings: compiled.warnings };
    }
    // Under --dev a file that changed, or changed back, is registered in addition to its earlier versions.
    if (known !== undefined && !options.dev) throw versionExists(id, version);
    const registered = known === undefined ? version : `${version}+${digest.slice(0, 8)}`;
    const before = known && (await store.readWorkflow(caller.tenant, id, registered));
    const isCurrent = before?.digest === digest && before.current;
    if (isCurrent) await settleTriggers(caller, document);
    else await write(caller, { id, version: registered, digest, definition: text }, document);
    if (compiled.plan !== undefined) plans.keep(compiled.plan, caller.tenant);
    await dependencies.onRegistered(caller.tenant, id);
    return { id, version: registered, digest, created: !isCurrent, warnings: compiled.warnings };
  }

  /**
   * What would be kept of a definition: its full form, with the version of every node type. A definition that is registered under the
   * same name, and is the same but for that, keeps the versions it has; in development it gets the newest.
   */
  async function complete(tenant: string, definition: unknown, dev: boolean): Promise<Complete> {
    const given = fullForm(definition as Json);
    const known = await registeredAs(tenant, given);
    if (known !== undefined && !dev) {
      const text = await store.readDefinition(known.digest);
      const kept = await identified(
        tenant,
        given,
        text === undefined ? undefined : (JSON.parse(text) as Json),
      );
      if (kept.digest === known.digest) return { ...kept, known };
    }
    return { ...(await identified(tenant, given)), known };
  }

  async function registeredAs(tenant: string, definition: Json): Promise<WorkflowRow | undefined> {
    const { id, version } = isJsonObject(definition) ? definition : {};
    const isNamed = typeof id === 'string' && typeof version === 'string' && isName(id) && isName(version);
    return isNamed ? await store.readWorkflow(tenant, id, version) : undefined;
  }

  async function identified(
    tenant: string,
    definition: Json,
    before?: Json,
  ): Promise<Omit<Complete, 'known'>> {
    const { definition: full, pins } = await dependencies.pin(tenant, definition, before);
    const identity = await runCooperatively(tenant, identify(full, limits.maxDefinitionBytes));
    return { full, pins, ...identity };
  }

  /** Only what is offered again is looked through for credentials: what was registered before keeps running. */
  async function examine(
    definition: unknown,
    digest: string,
    tenant: string,
    alongside?: ReadonlySet<string>,
  ): Promise<Compiled> {
    const credentials = await runCooperatively(tenant, credentialsInDefinition(definition));
    const compiled = await compile(definition, digest, tenant, 'offered');
    const warnings = [...compiled.warnings, ...(await missingChildren(compiled.children, tenant, alongside))];
    const ofTriggers =
      compiled.errors.length === 0 ? dependencies.owned.problems(definition as WorkflowDefinition) : [];
    const errors = [...compiled.errors, ...ofTriggers];
    return dependencies.test
      ? { ...compiled, errors, warnings: [...warnings, ...credentials] }
      : { ...compiled, warnings, errors: [...errors, ...credentials] };
  }

  async function missingChildren(
    children: readonly ChildReference[],
    tenant: string,
    alongside?: ReadonlySet<string>,
  ): Promise<readonly WorkflowProblem[]> {
    const missing: WorkflowProblem[] = [];
    const isKnown = new Map<string, boolean>();
    for (const { path, workflowId } of children) {
      let known = isKnown.get(workflowId) ?? alongside?.has(workflowId);
      known ??= (await store.readWorkflow(tenant, workflowId, undefined)) !== undefined;
      isKnown.set(workflowId, known);
      if (known) continue;
      const message = `No workflow "${workflowId}" is registered; the node fails if none is when it is reached.`;
      missing.push({ path, code: 'workflow_missing', message });
    }
    return missing;
  }

  async function summaryOf(row: WorkflowRow): Promise<WorkflowSummary> {
    const { id, version, digest, registeredAt, current } = row;
    const { name, nodes } = await sketchOf(digest);
    return { id, version, name, digest, registeredAt, nodes, current };
  }

  /** What a list says of a definition is not worth compiling it. */
  async function sketchOf(digest: string): Promise<Sketch> {
    const known = sketches.get(digest);
    if (known !== undefined) return known;
    const text = await store.readDefinition(digest);
    if (text === undefined)
      throw new HostError('internal_error', 'A definition that is registered is not in the store.');
    const { name, nodes } = JSON.parse(text) as WorkflowDefinition;
    const sketch = { name, nodes: nodes.length };
    sketches.set(digest, sketch);
    if (text.length > LARGE_TEXT) await yieldTurn();
    return sketch;
  }

  return {
    register,
    async check(definition, tenant = '', alongside) {
      const { full, digest, pins } = await complete(tenant, definition, false);
      const { errors, warnings } = await examine(full, digest, tenant, alongside);
      return { errors, warnings, pinned: pins };
    },
    async get(caller, id, version) {
      const row = await store.readWorkflow(caller.tenant, id, version);
      const text = row && (await store.readDefinition(row.digest));
      return text === undefined ? undefined : (JSON.parse(text) as WorkflowDefinition);
    },
    async list(caller, page) {
      const listed = await store.listWorkflows(caller.tenant, page);
      const rows: WorkflowSummary[] = [];
      for (const row of listed.rows) rows.push(await summaryOf(row));
      return listed.nextCursor === undefined ? { rows } : { rows, nextCursor: listed.nextCursor };
    },
  };
}

/** Down to the members of a node's config, which may be very many. */
const DIGEST_LEVELS = 4;

/** What a definition is: its bytes as they will be kept, and the digest of its canonical form. */
export function* identify(
  definition: unknown,
  maxBytes: number,
): CooperativeTask<{ digest: string; text: string }> {
  const text: string | undefined = JSON.stringify(definition);
  if (text === undefined)
    throw new HostError('validation_error', 'The definition must be a JSON object.', { field: '' });
  const observed = Buffer.byteLength(text);
  if (observed > maxBytes) {
    throw new HostError(
      'validation_error',
      `The definition has ${observed} bytes; the limit is ${maxBytes}.`,
      {
        limit: maxBytes,
        observed,
      },
    );
  }
  yield;
  return { digest: yield* canonicalDigest(definition as Json, DIGEST_LEVELS), text };
}

/** What a run would wait for, or fail for, though the definition itself is right. */
const WRONG_IF_STRICT: ReadonlySet<string> = new Set([
  'trigger_not_served',
  'workflow_missing',
  'provider_missing',
]);

function refuseProblems(compiled: Compiled, strict: boolean): void {
  const doubts = strict ? compiled.warnings.filter(({ code }) => WRONG_IF_STRICT.has(code)) : [];
  const problems = [...compiled.errors, ...doubts];
  const [first] = problems;
  if (first === undefined) return;
  const others = problems.length - 1;
  const rest =
    others === 0 ? '' : ` ${others} more ${others === 1 ? 'problem is' : 'problems are'} in the details.`;
  throw new HostError(
    'validation_error',
    `${first.path === '' ? 'The definition' : shownName(first.path)}: ${first.message}${rest}`,
    {
      field: first.path,
      problems: problems.slice(0, SHOWN_PROBLEMS).map(toDetail),
      count: problems.length,
    },
  );
}

function toDetail({ path, code, message, details }: WorkflowProblem): JsonObject {
  return { path, code, message, ...(details !== undefined && { details }) };
}
