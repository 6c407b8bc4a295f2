import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<Given extends Options> = ReturnType<typeof parseArgs<{ options: Given }>>['values'];

/** Flags that were understood, or what to say instead of doing anything. */
export type CommandLine<Given extends Options> =
  | { readonly values: Values<Given> }
  | { readonly say: string; readonly exitCode: 0 | 2 };

export function readCommandLine<Given extends Options>(
  argv: readonly string[],
  usage: string,
  options: Given,
): CommandLine<Given> {
  if (argv.includes('--help') || argv.includes('-h')) return { say: usage, exitCode: 0 };
  try {
    return { values: parseArgs({ args: [...argv], options }).values };
  } catch (error) {
    // The first sentence names what was wrong; the rest is about how other programs quote.
    const problem = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error);
    return { say: `${problem}\n\n${usage}`, exitCode: 2 };
  }
}

/** The same for a program: what is to be said instead ends it. */
export function flagsOf<Given extends Options>(usage: string, options: Given): Values<Given> {
  const line = readCommandLine(process.argv.slice(2), usage, options);
  if ('values' in line) return line.values;
  (line.exitCode === 0 ? process.stdout : process.stderr).write(`${line.say}\n`);
  process.exit(line.exitCode);
}
