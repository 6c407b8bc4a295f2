import type { ArgsDef } from 'citty';
import type { Group, Leaf, ValueTable } from './command.ts';
import { EXIT } from '../exit-code.ts';
import type { Style } from '../output/style.ts';
import { asTypedHere } from '../program-name.ts';

/** `path` is what the person typed to get here, such as `weft runs`. */
export function groupHelp(style: Style, path: string, group: Group): string {
  const width = Math.max(...group.commands.map((command) => command.name.length));
  const commands = group.commands.map(
    (command) => `  ${style.cyan(command.name.padEnd(width))}  ${command.summary}`,
  );
  return [
    `${style.bold(path)}: ${group.summary}`,
    '',
    style.bold('Usage'),
    asTypedHere(`  ${path} COMMAND [FLAGS]`),
    '',
    style.bold('Commands'),
    ...commands,
    '',
    asTypedHere(
      `weft help${path.slice('weft'.length)} COMMAND shows flags and examples, as --help after it does.`,
    ),
  ].join('\n');
}

export function leafHelp(style: Style, path: string, leaf: Leaf): string {
  return [
    `${style.bold(path)}: ${leaf.summary}`,
    '',
    style.bold('Usage'),
    asTypedHere(`  ${path}${positionals(leaf.args)}${leaf.variadic === true ? '…' : ''} [FLAGS]`),
    ...flagLines(style, leaf),
    ...valueLines(style, leaf.values),
    ...(leaf.footnote === undefined ? [] : ['', leaf.footnote]),
    '',
    style.bold('Examples'),
    ...leaf.examples.map((example) => asTypedHere(`  ${example}`)),
    '',
    style.dim(
      `Exit codes: ${EXIT.done} done, ${EXIT.failed} the run or check failed, ${EXIT.usage} wrong usage, ` +
        `${EXIT.unusable} input or host unusable, ${EXIT.unmet} a required condition is not met.`,
    ),
  ].join('\n');
}

function flagLines(style: Style, { args, sections = [] }: Leaf): readonly string[] {
  const flags = Object.entries(args).filter(([, arg]) => arg.type !== 'positional');
  const width = Math.max(...flags.map(([name, arg]) => flagLabel(name, arg).length));
  const listed = new Set(sections.flatMap((section) => section.flags));
  const others = { title: 'Flags', flags: flags.map(([name]) => name).filter((name) => !listed.has(name)) };
  return [...sections, others].flatMap((section) => [
    '',
    style.bold(section.title),
    ...flags
      .filter(([name]) => section.flags.includes(name))
      .map(([name, arg]) => `  ${style.cyan(flagLabel(name, arg).padEnd(width))}  ${flagText(arg)}`),
  ]);
}

function valueLines(style: Style, values: ValueTable | undefined): readonly string[] {
  if (values === undefined) return [];
  const rows = Object.entries(values.rows);
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, meaning]) => `  ${style.cyan(name.padEnd(width))}  ${meaning}`);
  return ['', style.bold(values.title), ...lines];
}

function positionals(args: ArgsDef): string {
  return Object.entries(args)
    .filter(([, arg]) => arg.type === 'positional')
    .map(([name, arg]) => (arg.required === false ? ` [${name.toUpperCase()}]` : ` ${name.toUpperCase()}`))
    .join('');
}

function flagLabel(name: string, arg: ArgsDef[string]): string {
  const short = 'alias' in arg && typeof arg.alias === 'string' ? `-${arg.alias}, ` : '';
  if (arg.type === 'boolean') return `${short}--${name}`;
  const options = arg.type === 'enum' ? arg.options?.join('|') : undefined;
  return `${short}--${name} ${options ?? arg.valueHint ?? 'VALUE'}`;
}

function flagText(arg: ArgsDef[string]): string {
  const fallback =
    arg.default === undefined || arg.default === false ? '' : ` (default ${String(arg.default)})`;
  return `${asTypedHere(arg.description ?? '')}${fallback}`;
}
