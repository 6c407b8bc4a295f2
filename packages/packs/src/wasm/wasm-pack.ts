import {
  HostError,
  isHostError,
  isJsonObject,
  type Json,
  type JsonObject,
  nameProblem,
  parseStrictJson,
} from '@weft/protocol';
import type { OpenedPack } from '../install/open-pack.ts';
import { PackError } from '../pack-error.ts';
import { ABI_VERSIONS, PAGE_BYTES } from './abi.ts';
import { compileModule } from './check-module.ts';
import { limitMemory } from './limit-memory.ts';
import type { FromThread, LogLine, ModuleCall, ModuleWrites } from './thread-messages.ts';
import type { WasmThreads } from './wasm-threads.ts';

export interface WasmLimits {
  readonly maxMemoryBytes: number;
  readonly maxExecutionMs: number;
}

export const WASM_LIMITS: WasmLimits = { maxMemoryBytes: 128 * 1024 * 1024, maxExecutionMs: 30_000 };

/** What became of a call. */
export type WasmOutcome =
  | {
      readonly outputs: JsonObject;
      readonly writes: WasmWrites;
      readonly error?: undefined;
      readonly logs: readonly LogLine[];
    }
  | { readonly ask: WasmQuestion; readonly error?: undefined; readonly logs: readonly LogLine[] }
  | { readonly error: WasmError; readonly logs: readonly LogLine[] };

/** What a module sets in its run. */
export interface WasmWrites {
  readonly variables: JsonObject;
  readonly channels: readonly { readonly channel: string; readonly value: Json }[];
}

/** What a module asks people; which data a kind needs is for the host to say. */
export interface WasmQuestion {
  readonly kind: (typeof ASKED_KINDS)[number];
  readonly data: JsonObject;
  readonly resumeSchema?: JsonObject;
  readonly timeoutMs?: number;
}

const ASKED_KINDS = ['approval', 'clarification', 'external-event', 'custom'] as const;

export interface WasmError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject | undefined;
}

export interface WasmPack {
  /** What the module needs of its runs, by what it imports. */
  readonly uses: readonly RunFacility[];
  invoke(call: ModuleCall, signal?: AbortSignal): Promise<WasmOutcome>;
}

export type RunFacility = 'questions' | 'variables' | 'channels';

const FACILITIES: Readonly<Record<string, RunFacility>> = {
  openwop_interrupt: 'questions',
  openwop_variable_get: 'variables',
  openwop_variable_set: 'variables',
  openwop_channel_read: 'channels',
  openwop_channel_write: 'channels',
};

function facilitiesOf(module: WebAssembly.Module): readonly RunFacility[] {
  const used = WebAssembly.Module.imports(module).flatMap(({ name }) => FACILITIES[name] ?? []);
  return [...new Set(used)];
}

/** How long a module may take to describe itself. */
const DESCRIBE_MS = 5_000;

/** Compiles the module of a pack and asks it, in a thread, whether it is what the manifest says. Throws PackError. */
export async function openWasmPack(
  { manifest, files }: Pick<OpenedPack, 'manifest' | 'files'>,
  threads: WasmThreads,
  limits: WasmLimits = WASM_LIMITS,
): Promise<WasmPack> {
  const { entry, wasm } = manifest.runtime;
  if (wasm !== undefined) checkAbi(wasm.abiVersion);
  const secretive = manifest.nodes.find(({ requiresSecrets = [] }) => requiresSecrets.length > 0);
  if (secretive !== undefined)
    throw new PackError(
      'invalid_manifest',
      `${secretive.typeId} needs secrets, which nodes of WASM packs do not get.`,
    );
  const pages = Math.min(
    Math.floor(limits.maxMemoryBytes / PAGE_BYTES),
    wasm?.memoryPagesMax ?? Number.POSITIVE_INFINITY,
  );
  const module = compileModule(limitMemory(files.get(entry) ?? new Uint8Array(), pages));
  const described = await threads.run(
    { kind: 'describe', module },
    { maxMs: Math.min(DESCRIBE_MS, limits.maxExecutionMs) },
  );
  if (described.kind !== 'described') {
    const reason = described.kind === 'failed' ? described.failure.message : 'it does not say what it is';
    throw new PackError('wasm_module_invalid', `The WASM module cannot be used: ${reason}`);
  }
  checkAbi(described.abiVersion);
  if (described.packName !== manifest.name)
    throw new PackError(
      'manifest_name_mismatch',
      `The WASM module calls itself ${JSON.stringify(described.packName)}, and the manifest ${manifest.name}.`,
    );
  const missing = manifest.nodes.find(({ typeId }) => !described.typeIds.includes(typeId));
  if (missing !== undefined)
    throw new PackError(
      'wasm_module_invalid',
      `The WASM module does not have ${missing.typeId}, which the manifest names.`,
    );
  return {
    uses: facilitiesOf(module),
    async invoke(call, signal) {
      const answer = await threads.run(
        { kind: 'invoke', module, ...call },
        { maxMs: limits.maxExecutionMs, signal },
      );
      return outcomeOf(answer);
    },
  };
}

function checkAbi(version: number): void {
  if (!ABI_VERSIONS.includes(version))
    throw new PackError(
      'unsupported_abi_version',
      `The WASM module speaks version ${version} of the ABI; this host speaks ${ABI_VERSIONS.join(', ')}.`,
    );
}

function outcomeOf(answer: FromThread): WasmOutcome {
  if (answer.kind === 'described') return failed('The module answered another question.', []);
  const { logs } = answer;
  if (answer.kind === 'failed') {
    const { code, message, details } = answer.failure;
    return { error: { code, message, ...(details !== undefined && { details: { ...details } }) }, logs };
  }
  try {
    if (answer.kind === 'asked') return askedOf(parseStrictJson(answer.question), logs);
    return responseOf(parseStrictJson(answer.response), answer.writes, logs);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return failed(`What the module said cannot be used: ${error.message}`, logs);
  }
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** The response is untrusted: everything in it is looked at before it is used. */
function responseOf(response: Json, writes: ModuleWrites, logs: readonly LogLine[]): WasmOutcome {
  if (!isJsonObject(response)) return failed('The module answered with no object.', logs);
  const { outcome, output, error, interrupt = null } = response;
  if (outcome === 'completed' && isJsonObject(output ?? null))
    return { outputs: output as JsonObject, writes: writesOf(writes), logs };
  if (outcome === 'completed') return failed('The output of the module is no object.', logs);
  if (outcome === 'suspended') return askedOf(interrupt, logs);
  if (outcome === 'failed' && isJsonObject(error ?? null))
    return { error: errorOf(error as JsonObject), logs };
  return failed(`The module answered with the outcome ${JSON.stringify(outcome)?.slice(0, 80)}.`, logs);
}

function errorOf({ code, message, details }: JsonObject): WasmError {
  return {
    code: typeof code === 'string' && CODE.test(code) ? code : 'node_failed',
    message:
      typeof message === 'string' && message !== '' ? message : 'The module failed and did not say why.',
    ...(isJsonObject(details ?? null) && { details: details as JsonObject }),
  };
}

function writesOf({ variables, channels }: ModuleWrites): WasmWrites {
  const named = Object.entries(variables).map(([name, value]) => {
    const problem = nameProblem(name);
    if (problem !== undefined) throw new HostError('validation_error', `The name of a variable ${problem}.`);
    return [name, parseStrictJson(value)] as const;
  });
  return {
    variables: Object.fromEntries(named),
    channels: channels.map(({ channel, value }) => ({ channel, value: parseStrictJson(value) })),
  };
}

const LONGEST_QUESTION = 64 * 1024;

function askedOf(question: Json, logs: readonly LogLine[]): WasmOutcome {
  if (!isJsonObject(question)) return failed('The question of the module is no object.', logs);
  const { kind, data = {}, resumeSchema, timeoutMs } = question;
  const known = ASKED_KINDS.find((each) => each === kind);
  if (known === undefined)
    return failed(`The question of the module has none of the kinds ${ASKED_KINDS.join(', ')}.`, logs);
  if (!isJsonObject(data)) return failed('The data of the question of the module are no object.', logs);
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && Number(timeoutMs) > 0))
    return failed('timeoutMs of the question of the module is no positive whole number.', logs);
  const ask = {
    kind: known,
    data,
    ...(isJsonObject(resumeSchema) && { resumeSchema }),
    ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
  };
  const size = JSON.stringify(ask).length;
  if (size > LONGEST_QUESTION)
    return failed(`The question of the module has ${size} characters; ${LONGEST_QUESTION} at most.`, logs);
  return { ask, logs };
}

function failed(message: string, logs: readonly LogLine[]): WasmOutcome {
  return { error: { code: 'wasm_invocation_failed', message }, logs };
}
