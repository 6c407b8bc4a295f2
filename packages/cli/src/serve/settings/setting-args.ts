import type { ArgsDef, StringArgDef } from 'citty';
import type { HelpSection } from '../../parsing/command.ts';
import { ALL_SETTINGS, type NamedSetting } from './settings-table.ts';

const FLAGS = ALL_SETTINGS.filter(({ sources }) => sources.includes('flag'));

/** The flags of `weft serve`. */
export const SERVE_ARGS: ArgsDef = Object.fromEntries(FLAGS.map((setting) => [setting.name, argOf(setting)]));

export const SERVE_SECTIONS: readonly HelpSection[] = [...new Set(FLAGS.map(({ group }) => group))].map(
  (title) => ({ title, flags: FLAGS.filter(({ group }) => group === title).map(({ name }) => name) }),
);

/** What to do when a setting that is not a flag is given as one. */
export const SERVE_MOVED: Readonly<Record<string, string>> = Object.fromEntries(
  ALL_SETTINGS.filter(({ sources }) => !sources.includes('flag')).map(({ name, variable }) => [
    name,
    `--${name} is not a flag. Put "${name}" into the config file (--config FILE), or set ${variable}.`,
  ]),
);

/** The same flags for other commands that work on a host's store. None of them is a switch. */
export function settingArgs<Name extends string>(...names: readonly Name[]): Record<Name, StringArgDef> {
  const args = FLAGS.filter(({ name }) => (names as readonly string[]).includes(name));
  return Object.fromEntries(args.map((setting) => [setting.name, argOf(setting)])) as Record<
    Name,
    StringArgDef
  >;
}

function argOf({ kind, description }: NamedSetting): ArgsDef[string] {
  if (kind.type === 'switch') return { type: 'boolean', description };
  const repeated = kind.type === 'list' ? '; may be repeated' : '';
  const fallback = kind.fallback === 'none' ? '' : ` (default ${kind.fallback})`;
  return { type: 'string', valueHint: kind.hint, description: `${description}${repeated}${fallback}` };
}
