import { conformance, type ConformanceIo } from '../command/conformance-command.ts';
import type { FlagValues } from '../command/settings.ts';

export interface CommandOutcome {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in this process, as a person would. */
export async function runCommand(
  { json = false, ...flags }: Partial<FlagValues> & { json?: boolean },
  env: Readonly<Record<string, string>> = {},
  onSignal: ConformanceIo['onSignal'] = () => () => undefined,
): Promise<CommandOutcome> {
  let out = '';
  let err = '';
  const exit = await conformance(
    { reports: [], ...flags },
    {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env,
      cwd: process.cwd(),
      isTTY: false,
      onSignal,
      readKeyFile: (path) => Promise.reject(new Error(`no file ${path}`)),
    },
    json,
  );
  return { exit, out, err };
}
