import { isHostError, isJsonObject, type Json, type JsonObject, parseStrictJson } from '@weft/protocol';
import type { OpenedPack } from '../install/open-pack.ts';
import { PackError } from '../pack-error.ts';
import { ABI_VERSIONS, PAGE_BYTES } from './abi.ts';
import { compileModule } from './check-module.ts';
import { NO_SUSPENSION } from './instance.ts';
import { limitMemory } from './limit-memory.ts';
import type { FromThread, LogLine, ModuleCall } from './thread-messages.ts';
import type { WasmThreads } from './wasm-threads.ts';

export interface WasmLimits {
  readonly maxMemoryBytes: number;
  readonly maxExecutionMs: number;
}

export const WASM_LIMITS: WasmLimits = { maxMemoryBytes: 128 * 1024 * 1024, maxExecutionMs: 30_000 };

/** What became of a call. */
export type WasmOutcome =
  | { readonly outputs: JsonObject; readonly error?: undefined; readonly logs: readonly LogLine[] }
  | { readonly error: WasmError; readonly logs: readonly LogLine[] };

export interface WasmError {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject | undefined;
}

export interface WasmPack {
  invoke(call: ModuleCall, signal?: AbortSignal): Promise<WasmOutcome>;
}

/** To be told what a module says about itself, it may take so long. */
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
    return responseOf(parseStrictJson(answer.response), logs);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return failed(`The module answered what is no JSON: ${error.message}`, logs);
  }
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** The response is untrusted: everything in it is looked at before it is used. */
function responseOf(response: Json, logs: readonly LogLine[]): WasmOutcome {
  if (!isJsonObject(response)) return failed('The module answered with no object.', logs);
  const { outcome, output, error } = response;
  if (outcome === 'completed' && isJsonObject(output ?? null)) return { outputs: output as JsonObject, logs };
  if (outcome === 'completed') return failed('The output of the module is no object.', logs);
  if (outcome === 'suspended') return { error: NO_SUSPENSION_ERROR, logs };
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

const NO_SUSPENSION_ERROR: WasmError = { code: NO_SUSPENSION.code, message: NO_SUSPENSION.message };

function failed(message: string, logs: readonly LogLine[]): WasmOutcome {
  return { error: { code: 'wasm_invocation_failed', message }, logs };
}
