import { CONFIG_BLOCKS } from './config-blocks.ts';
import { ALL_SETTINGS, type NamedSetting } from './settings-table.ts';

/** docs/reference/settings.md: every setting of a host, from the table. */
export function renderSettingsReference(): string {
  const groups = [...new Set(ALL_SETTINGS.map(({ group }) => group))];
  return [
    '# Settings of a host',
    '',
    'Generated from `packages/cli/src/serve/settings/settings-table.ts` and `packages/engine/src/host/limits.ts` by `npm run docs`.',
    '',
    'Each setting of `weft serve` has one name. It is read from the flag, then from the variable, then from the JSON file named by',
    '`--config`, where it stands without dashes: `{ "port": 7878, "poll-ms": 250 }`. Names without dashes below are not flags. An',
    'unknown name in the file is an error. Lists take commas, a repeated flag, or a JSON list.',
    '',
    'Keys are not settings: `WEFT_API_KEY`, `WEFT_SECRETS_KEY` and `WEFT_AUDIT_KEY` are read from the environment only.',
    '',
    ...groups.flatMap((title) => [
      `## ${title}`,
      '',
      '| setting | variable | value | default | |',
      '| --- | --- | --- | --- | --- |',
      ...ALL_SETTINGS.filter(({ group }) => group === title).map(rowOf),
      '',
    ]),
    '## Blocks of the config file',
    '',
    'Objects, in the file only. Everything in one is checked when the host starts; what is wrong stops it, and is named.',
    '',
    '| block | |',
    '| --- | --- |',
    ...Object.entries(CONFIG_BLOCKS).map(([name, description]) => `| \`${name}\` | ${description} |`),
    '',
  ].join('\n');
}

function rowOf({ name, variable, kind, sources, otherVariable, description }: NamedSetting): string {
  const isNamed = sources.includes('variable');
  const other = otherVariable === undefined ? '' : ` or \`${otherVariable}\``;
  const cells = [
    `\`${sources.includes('flag') ? '--' : ''}${name}\``,
    isNamed ? `\`${variable}\`${other}` : 'none',
    `\`${kind.hint}\``,
    kind.fallback,
    sources.includes('file') ? description : `${description}; not in the file`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
