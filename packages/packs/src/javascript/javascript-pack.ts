import type { OpenedPack } from '../install/open-pack.ts';
import { PackError } from '../pack-error.ts';
import {
  type HostFetch,
  SANDBOX_LIMITS,
  type SandboxCall,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxProcess,
  startSandbox,
} from './sandbox-process.ts';
import { findWalls } from './walls.ts';

export interface JavaScriptPack {
  invoke(call: SandboxCall): Promise<SandboxOutcome>;
  stop(): Promise<void>;
}

export interface JavaScriptPackOptions {
  readonly fetch?: HostFetch | undefined;
  readonly limits?: SandboxLimits;
}

/**
 * Starts a process with the code of a pack, and asks it whether it defines what the manifest says. A process that has ended, or has had
 * its number of calls, is replaced by a new one. Throws PackError.
 */
export async function openJavaScriptPack(
  { manifest, files }: Pick<OpenedPack, 'manifest' | 'files'>,
  { fetch, limits = SANDBOX_LIMITS }: JavaScriptPackOptions = {},
): Promise<JavaScriptPack> {
  const { entry, format = 'esm' } = manifest.runtime;
  if (format !== 'esm')
    throw new PackError(
      'unsupported_runtime',
      `The code of ${manifest.name} is ${format}; this host runs modules (esm).`,
    );
  const code = new TextDecoder().decode(files.get(entry));
  const walls = await findWalls();
  const all = new Set<SandboxProcess>();
  let current: SandboxProcess | undefined;
  let isStopped = false;

  function start(): SandboxProcess {
    const sandbox = startSandbox({ code, walls, limits, fetch });
    all.add(sandbox);
    void sandbox.ended.then(() => {
      all.delete(sandbox);
      if (current === sandbox) current = undefined;
    });
    current = sandbox;
    return sandbox;
  }

  function next(): SandboxProcess {
    if (current === undefined || current.isEnding()) return start();
    if (current.calls() < limits.callsPerProcess) return current;
    current.retire();
    return start();
  }

  const stop = async () => {
    isStopped = true;
    const ending = [...all].map(({ ended }) => ended);
    for (const sandbox of all) sandbox.kill();
    await Promise.all(ending);
  };

  try {
    const typeIds = await start().loaded;
    const missing = manifest.nodes.find(({ typeId }) => !typeIds.includes(typeId));
    if (missing !== undefined)
      throw new PackError(
        'tarball_entry_missing',
        `${entry} does not define ${missing.typeId}, which the manifest names.`,
      );
  } catch (error) {
    await stop();
    if (error instanceof PackError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PackError('tarball_entry_missing', `${entry} cannot be loaded: ${reason.replace(/\.$/, '')}.`, {
      cause: error,
    });
  }
  return {
    async invoke(call) {
      if (isStopped)
        return { error: { code: 'sandbox_ended', message: 'The host is stopping.', retryable: true } };
      const sandbox = next();
      try {
        await sandbox.loaded;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { error: { code: 'sandbox_ended', message, retryable: true } };
      }
      return sandbox.call(call);
    },
    stop,
  };
}
