import { type ArgsDef, type CommandDef, type ParsedArgs, defineCommand } from 'citty';
import type { ExitCode } from '../exit-code.ts';
import type { ShownIo } from '../io.ts';
import type { Style } from '../output/style.ts';

/** What a running command may use. */
export interface Cli {
  readonly io: ShownIo;
  readonly style: Style;
  readonly json: boolean;
}

export interface Invocation<Args extends ArgsDef> {
  readonly cli: Cli;
  readonly args: ParsedArgs<Args>;
  /** Every value of a flag that may be given several times, in order. */
  readonly all: (flag: keyof Args & string) => readonly string[];
}

export interface CommandSpec<Args extends ArgsDef> {
  readonly name: string;
  readonly summary: string;
  /** Shown at the end of --help; each is a line that works. */
  readonly examples: readonly string[];
  readonly args: Args;
  /** What a flag takes, where that is a table: shown after the flags. */
  readonly values?: ValueTable;
  /** Flags by what they are about; the others stand under "Flags". */
  readonly sections?: readonly HelpSection[];
  /** Shown after the flags: where to find more. */
  readonly footnote?: string;
  /** Flags that it does not have but people may expect: what to do instead. */
  readonly moved?: Readonly<Record<string, string>>;
  /** Extra positional arguments are allowed and found in `args._`. */
  readonly variadic?: boolean;
  readonly run: (invocation: Invocation<Args>) => Promise<ExitCode>;
}

export interface ValueTable {
  readonly title: string;
  /** What each value means. */
  readonly rows: Readonly<Record<string, string>>;
}

export interface HelpSection {
  readonly title: string;
  readonly flags: readonly string[];
}

/** A command that does something. */
export interface Leaf extends Omit<CommandSpec<ArgsDef>, 'run'> {
  readonly kind: 'leaf';
  readonly definition: CommandDef<ArgsDef>;
}

/** A noun with verbs. */
export interface Group {
  readonly kind: 'group';
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

export type Command = Leaf | Group;

/** What the parser hands to a command next to its arguments. */
export interface CommandData {
  readonly cli: Cli;
  readonly all: (flag: string) => readonly string[];
}

/** Flags that every command has. */
export const COMMON_ARGS = {
  json: { type: 'boolean', description: 'Print JSON for programs instead of text for people' },
  help: { type: 'boolean', alias: 'h', description: 'Show this help' },
} as const satisfies ArgsDef;

/** A run, wherever a command takes one (connecting/run-id.ts). */
export const RUN_ARG = {
  type: 'positional',
  description: 'Run id, its first characters, or @last for the newest run',
  required: true,
} as const satisfies ArgsDef[string];

/** Flags of every command that talks to a host. */
export const HOST_ARGS = {
  url: {
    type: 'string',
    valueHint: 'URL',
    description: 'The host; default WEFT_URL, then DATA/url, then http://127.0.0.1:7878',
  },
  data: {
    type: 'string',
    valueHint: 'DIR',
    description: 'Data folder whose key file to use when WEFT_API_KEY is not set (default .weft)',
  },
} as const satisfies ArgsDef;

export function leaf<const Args extends ArgsDef>(spec: CommandSpec<Args>): Leaf {
  const args: ArgsDef = { ...spec.args, ...COMMON_ARGS };
  const definition = defineCommand<ArgsDef>({
    meta: { name: spec.name, description: spec.summary },
    args,
    run(context) {
      const { cli, all } = context.data as CommandData;
      return spec.run({ cli, all, args: context.args as ParsedArgs<Args> });
    },
  });
  const { run: _, ...described } = spec;
  return { kind: 'leaf', ...described, args, definition };
}

export function group(name: string, summary: string, commands: readonly Command[]): Group {
  return { kind: 'group', name, summary, commands };
}
