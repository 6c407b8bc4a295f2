import { open } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { shownName } from '@weft/protocol';
import { conformance, type ConformanceIo } from './command/conformance-command.ts';
import {
  CONFORMANCE_EXAMPLES,
  CONFORMANCE_EXITS,
  CONFORMANCE_FLAGS,
  CONFORMANCE_SUMMARY,
  type Flag,
} from './command/flags.ts';
import { UsageError } from './command/settings.ts';
import { SUITE_EXIT } from './report/suite-report.ts';

/** `weft-conformance`: the suite without the rest of Weft. */
export async function main(argv: readonly string[]): Promise<number> {
  let values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  try {
    ({ values } = parseArgs({ args: [...argv], options: OPTIONS, strict: true }));
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nSee weft-conformance --help\n`,
    );
    return SUITE_EXIT.usage;
  }
  if (values['help'] === true) {
    process.stdout.write(help());
    return SUITE_EXIT.proven;
  }
  const { report, json, ...flags } = values;
  const reports = (Array.isArray(report) ? report : []).map(String);
  return conformance({ ...(flags as Record<string, string | boolean>), reports }, processIo(), json === true);
}

const OPTIONS = {
  ...Object.fromEntries(
    Object.entries(CONFORMANCE_FLAGS).map(([name, flag]: [string, Flag]) => [
      name,
      { type: flag.type, multiple: flag.isRepeatable === true },
    ]),
  ),
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

function help(): string {
  const flags = [
    ...Object.entries(CONFORMANCE_FLAGS).map(([name, flag]: [string, Flag]) => [
      flag.valueHint === undefined ? `--${name}` : `--${name} ${flag.valueHint}`,
      flag.description,
    ]),
    ['--json', 'Print the report as JSON'],
    ['-h, --help', 'Show this help'],
  ];
  const rows = flags.map(([head = '', description = '']) => `  ${head.padEnd(30)}${description}`);
  const examples = CONFORMANCE_EXAMPLES.map(
    (line) => `  ${line.replace('weft conformance', 'weft-conformance')}`,
  );
  return [
    `weft-conformance: ${CONFORMANCE_SUMMARY}`,
    'Usage\n  weft-conformance [FLAGS]',
    `Flags\n${rows.join('\n')}`,
    `Examples\n${examples.join('\n')}`,
    `${CONFORMANCE_EXITS}\n`,
  ].join('\n\n');
}

function processIo(): ConformanceIo {
  return {
    stdout: { write: (text) => process.stdout.write(visible(text)) },
    stderr: { write: (text) => process.stderr.write(visible(text)) },
    env: process.env,
    cwd: process.cwd(),
    isTTY: process.stderr.isTTY ?? false,
    onSignal(listener) {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
    readKeyFile,
  };
}

/** What a host said must not drive the terminal; our own line breaks and the one carriage return of the progress may. */
function visible(text: string): string {
  return text.replace(/[^\n\r]+/g, shownName);
}

async function readKeyFile(path: string): Promise<string> {
  const handle = await open(path, 'r').catch(() => {
    throw new UsageError(`The key file ${path} cannot be read.`);
  });
  try {
    const { mode } = await handle.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new UsageError(`${path} is open to other users. Close it with: chmod 600 ${path}`);
    return (await handle.readFile('utf8')).trim();
  } finally {
    await handle.close();
  }
}
