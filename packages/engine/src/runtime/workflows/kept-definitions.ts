import { isHostError, isJsonObject, RESERVED_TYPE_PREFIXES } from '@weft/protocol';
import type {
  Caller,
  KeptOutcome,
  RegisterOptions,
  WaitingDefinition,
  WorkflowProblem,
  Workflows,
} from '../../host/host.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { NodeTypes } from '../node-types/node-types.ts';

/**
 * Definitions that this process is to keep registered, such as those of a folder. One that names node types which no worker has
 * served is held until they are known; in development each is registered again when its types have newer versions.
 *
 * N-5. A definition that is held is registered once its types are known to this process: at once when a worker serves them here, and
 *      within `LOOK_EVERY_MS` when it does elsewhere.
 */
export interface KeptDefinitions {
  readonly keep: Workflows['keep'];
  readonly waiting: Workflows['waiting'];
  stop(): void;
}

export interface KeptDependencies {
  readonly workflows: Pick<Workflows, 'check' | 'register'>;
  readonly nodeTypes: Pick<NodeTypes, 'watch'>;
  readonly log: Log;
}

const LOOK_EVERY_MS = 2_000;

interface Kept {
  readonly caller: Caller;
  readonly definition: unknown;
  readonly options: RegisterOptions;
  readonly onNews: (outcome: KeptOutcome) => void;
  outcome: KeptOutcome;
}

export function createKeptDefinitions({ workflows, nodeTypes, log }: KeptDependencies): KeptDefinitions {
  const open = new Set<Kept>();
  let timer: NodeJS.Timeout | undefined;
  let unwatch: (() => void) | undefined;
  /** One look after the other, and one more when something happened meanwhile. */
  let looking: Promise<void> | undefined;
  let isLookDue = false;

  async function attempt({ caller, definition, options }: Omit<Kept, 'outcome'>): Promise<KeptOutcome> {
    const { errors } = await workflows.check(definition, caller.tenant, options.alongside);
    const types = missingTypes(errors);
    if (types !== undefined) return { state: 'waiting', types };
    if (errors.length > 0) return { state: 'refused', errors };
    return { state: 'registered', registration: await workflows.register(caller, definition, options) };
  }

  async function lookAt(kept: Kept): Promise<void> {
    const before = kept.outcome;
    kept.outcome = await attempt(kept).catch((error: unknown): KeptOutcome => {
      if (!isHostError(error)) throw error;
      return { state: 'refused', errors: [{ path: '', code: error.code, message: error.message }] };
    });
    if (!staysOpen(kept)) open.delete(kept);
    if (isNews(before, kept.outcome)) kept.onNews(kept.outcome);
  }

  async function lookAtAll(): Promise<void> {
    do {
      isLookDue = false;
      for (const kept of open)
        await lookAt(kept).catch((error: unknown) =>
          log('warn', errorFields(error), 'a workflow could not be registered; it is tried again'),
        );
    } while (isLookDue);
    if (open.size === 0) rest();
  }

  function look(): void {
    isLookDue = true;
    looking ??= lookAtAll().finally(() => {
      looking = undefined;
    });
  }

  function begin(): void {
    if (timer !== undefined) return;
    timer = setInterval(look, LOOK_EVERY_MS);
    timer.unref();
    unwatch = nodeTypes.watch((tenant) => {
      if ([...open].some(({ caller }) => caller.tenant === tenant)) look();
    });
  }

  function rest(): void {
    clearInterval(timer);
    unwatch?.();
    timer = undefined;
    unwatch = undefined;
  }

  return {
    async keep(caller, definition, options, onNews) {
      const wanted = { caller, definition, options, onNews };
      const kept: Kept = { ...wanted, outcome: await attempt(wanted) };
      if (staysOpen(kept)) {
        open.add(kept);
        begin();
      }
      return kept.outcome;
    },
    waiting: ({ tenant }) =>
      [...open].flatMap(({ caller, definition, outcome }) =>
        caller.tenant === tenant && outcome.state === 'waiting' ? [waitingOf(definition, outcome.types)] : [],
      ),
    stop() {
      open.clear();
      rest();
    },
  };
}

/** Only in development a registered one is looked at again: elsewhere it keeps the versions it has. */
function staysOpen({ outcome, options, definition }: Kept): boolean {
  if (outcome.state === 'waiting') return true;
  return outcome.state === 'registered' && options.dev && namesTypes(definition);
}

/** A definition of the host's own types alone has nothing to wait for. */
function namesTypes(definition: unknown): boolean {
  const { nodes } = (definition ?? {}) as { readonly nodes?: unknown };
  return (
    Array.isArray(nodes) && nodes.some((node) => isJsonObject(node) && !isReserved(String(node['typeId'])))
  );
}

function isNews(before: KeptOutcome, now: KeptOutcome): boolean {
  if (now.state === 'registered') return before.state !== 'registered' || now.registration.created;
  return now.state !== before.state;
}

const WAITING_CODES: ReadonlySet<string> = new Set(['unknown_node_type', 'unknown_type_version']);

/** The types that would make it right; undefined when something else is wrong, or nothing. */
function missingTypes(errors: readonly WorkflowProblem[]): readonly string[] | undefined {
  const named = errors.map(({ code, details }) => {
    const typeId = details?.['typeId'];
    return WAITING_CODES.has(code) && typeof typeId === 'string' && !isReserved(typeId) ? typeId : undefined;
  });
  const types = named.filter((typeId) => typeId !== undefined);
  return types.length === 0 || types.length < named.length ? undefined : [...new Set(types)].sort();
}

function isReserved(typeId: string): boolean {
  return RESERVED_TYPE_PREFIXES.some((prefix) => typeId.startsWith(prefix));
}

function waitingOf(definition: unknown, types: readonly string[]): WaitingDefinition {
  const { id, version } = definition as { readonly id: string; readonly version: string };
  return { id, version, waitingFor: types };
}
