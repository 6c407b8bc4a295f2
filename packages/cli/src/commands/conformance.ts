import type { ArgsDef } from 'citty';
import {
  CONFORMANCE_EXAMPLES,
  CONFORMANCE_FLAGS,
  CONFORMANCE_SUMMARY,
  type Flag,
} from '@weft/conformance/flags';
import { type Cli, leaf } from '../parsing/command.ts';
import { type ExitCode, usageError } from '../exit-code.ts';
import { readPrivateFile } from '../connecting/private-file.ts';
import { asTypedHere } from '../program-name.ts';

const ARGS: ArgsDef = Object.fromEntries(
  Object.entries(CONFORMANCE_FLAGS).map(([name, { type, valueHint, description }]: [string, Flag]) => [
    name,
    valueHint === undefined ? { type, description } : { type, valueHint, description },
  ]),
);

export const conformance = leaf({
  name: 'conformance',
  summary: CONFORMANCE_SUMMARY,
  examples: CONFORMANCE_EXAMPLES,
  args: ARGS,
  async run({ cli, args, all }) {
    const suite = await import('@weft/conformance');
    const flags = { ...(args as Record<string, string | boolean>), reports: all('report') };
    const exit: ExitCode = await suite.conformance(flags, ioOf(cli), cli.json);
    return exit;
  },
});

function ioOf({ io, json }: Cli) {
  return {
    stdout: json ? io.stdout : { write: (text: string) => io.stdout.write(asTypedHere(text)) },
    stderr: io.stderr,
    env: io.env,
    cwd: io.cwd,
    // Its progress is written over with carriage returns, which no command's output may hold.
    isTTY: false,
    onSignal: (listener: () => void) => io.onSignal(listener),
    async readKeyFile(path: string): Promise<string> {
      const key = await readPrivateFile(path, 'key_file');
      if (key === undefined) throw usageError(`There is no key file ${path}.`);
      return key;
    },
  };
}
