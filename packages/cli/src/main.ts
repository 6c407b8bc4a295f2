import { isJsonObject } from '@weft/protocol/plain';
import { runCommand } from 'citty';
import { closestName } from './parsing/closest-name.ts';
import { type Cli, type Command, type CommandData, type Group, type Leaf } from './parsing/command.ts';
import { weft } from './commands/weft.ts';
import { type CliError, EXIT, toCliError, usageError } from './exit-code.ts';
import { type CheckedFlags, checkFlags } from './parsing/flags.ts';
import { groupHelp, leafHelp } from './parsing/help.ts';
import { type Io, shielded, type ShownIo } from './io.ts';
import { styleFor } from './output/style.ts';
import { shown } from './output/terminal-text.ts';
import { asTypedHere } from './program-name.ts';
import { VERSION } from './version.ts';

/** Runs one command line and resolves with its exit code. Writes only to the given streams. */
export async function main(argv: readonly string[], outside: Io): Promise<number> {
  const io = shielded(outside);
  try {
    return await dispatch(argv, io);
  } catch (error) {
    const known = toCliError(error);
    if (known === undefined) {
      io.stderr.write(
        `Unhandled error in weft: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
      return EXIT.unusable;
    }
    reportError(io, known, argv.includes('--json'));
    return known.exitCode;
  }
}

async function dispatch(argv: readonly string[], io: ShownIo): Promise<number> {
  const style = styleFor(io.isTTY, io.env);
  if (argv[0] === '--version' || argv[0] === '-v') return say(io, VERSION);
  const found = argv[0] === 'help' ? find([...argv.slice(1), '--help'], 'weft help') : find(argv);
  if (found.command.kind === 'group') {
    const help = groupHelp(style, found.path, found.command);
    if (found.rest.length > 0) return say(io, help);
    io.stderr.write(`${help}\n`);
    return EXIT.usage;
  }
  const flags = checkFlags(found.path, found.command, found.rest);
  if (flags.help) return say(io, leafHelp(style, found.path, found.command));
  return runLeaf(found.command, flags, { io, style, json: flags.json });
}

async function runLeaf(leaf: Leaf, flags: CheckedFlags, cli: Cli): Promise<number> {
  const data: CommandData = { cli, all: (flag) => flags.values.get(flag) ?? [] };
  const { result } = await runCommand(leaf.definition, { rawArgs: [...flags.rawArgs], data });
  return typeof result === 'number' ? result : EXIT.done;
}

interface Found {
  readonly path: string;
  readonly command: Command;
  readonly rest: readonly string[];
}

const HELP = ['help', '--help', '-h'];

/** Walks nouns and verbs as far as they go. A group is only found when nothing but a wish for help follows. */
function find(argv: readonly string[], typed: string = weft.name): Found {
  let command: Command = weft;
  let path = weft.name;
  for (let index = 0; ; index += 1) {
    const rest = argv.slice(index);
    const word = rest[0];
    if (command.kind === 'leaf') return { path, command, rest };
    if (word === undefined || HELP.includes(word)) return { path, command, rest };
    command = childOf(command, `${typed}${path.slice(weft.name.length)}`, word);
    path = `${path} ${command.name}`;
  }
}

function childOf(group: Group, path: string, word: string): Command {
  if (word.startsWith('-')) throw usageError(`Flags come after the command. See: ${path} --help`);
  const child = group.commands.find((command) => command.name === word);
  if (child !== undefined) return child;
  const near = closestName(
    word,
    group.commands.map((command) => command.name),
  );
  const [elsewhere] = group.commands.filter((command) => command.kind === 'group' && hasVerb(command, word));
  const meant = elsewhere === undefined ? near : `${elsewhere.name} ${word}`;
  const hint = meant === undefined ? `See: ${path} --help` : `Did you mean: ${path} ${meant}`;
  throw usageError(`Unknown command "${word}". ${hint}`);
}

/** A verb without its noun, such as `weft show`. */
function hasVerb({ commands }: Group, word: string): boolean {
  return commands.some(({ name }) => name === word);
}

function say(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return EXIT.done;
}

function reportError(io: Io, error: CliError, json: boolean): void {
  const message = asTypedHere(error.message);
  if (json) {
    const details = error.details === undefined ? {} : { details: error.details };
    io.stderr.write(`${JSON.stringify({ error: error.code, message, ...details })}\n`);
    return;
  }
  io.stderr.write(`${message}\n`);
  for (const problem of otherProblems(error)) io.stderr.write(`  ${problem}\n`);
}

/** The host's message is about the first of what is wrong with a document; a program reads the others in the details. */
function otherProblems({ details }: CliError): string[] {
  const problems = details?.['problems'];
  if (!Array.isArray(problems)) return [];
  return problems.slice(1).flatMap((problem) => {
    if (!isJsonObject(problem)) return [];
    const { path, message } = problem;
    return typeof path === 'string' && typeof message === 'string' ? [shown`${path}: ${message}`] : [];
  });
}
