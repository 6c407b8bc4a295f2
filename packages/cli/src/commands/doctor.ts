import { type Cli, HOST_ARGS, leaf } from '../parsing/command.ts';
import { type Target, findTarget } from '../connecting/connection.ts';
import { readKeyFile } from '../connecting/data-folder.ts';
import {
  type Finding,
  checkDataFolder,
  checkDatabaseFile,
  checkHost,
  checkKeyFile,
  checkNodeVersion,
  checkPackWalls,
} from '../doctor/doctor-checks.ts';
import { EXIT } from '../exit-code.ts';
import { checkDatabase } from '../doctor/database-checks.ts';
import { settingArgs } from '../serve/settings/setting-args.ts';
import { readSettings, type SettingSources } from '../serve/settings/settings.ts';
import type { Style } from '../output/style.ts';
import { visibleText } from '../output/terminal-text.ts';
import { asTypedHere } from '../program-name.ts';

export const doctor = leaf({
  name: 'doctor',
  summary: 'Check the installation, the data folder and the host',
  examples: [
    'weft doctor',
    'weft doctor --deep --data /var/lib/weft',
    'WEFT_STORE=postgres://weft@db/weft weft doctor --deep',
    'weft doctor --json',
  ],
  args: {
    deep: {
      type: 'boolean',
      description: 'Read every page of the database and every log; the host may be running or stopped',
    },
    ...settingArgs('store', 'store-schema', 'config'),
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    // What is wrong with the key file is one of the findings.
    const target = await findTarget(cli.io, args, (folder) => readKeyFile(folder).catch(() => undefined));
    // The database that `weft serve` would use with the same flags, variables and file.
    const { store: database } = await readSettings(cli.io, all as SettingSources['flags']);
    const deep = args.deep === true;
    const onHost = await checkHost(target);
    const findings = [
      checkNodeVersion(process.version),
      await checkPackWalls(),
      ...(database === undefined
        ? [await checkDataFolder(target), await checkKeyFile(target), await checkDatabaseFile(target)]
        : await checkDatabase(database, deep)),
      ...(deep && database === undefined ? [await checkDeep(target)] : []),
      ...(deep ? onHost.map(withoutHost) : onHost),
    ];
    print(cli, findings);
    return findings.some((finding) => finding.state === 'wrong') ? EXIT.failed : EXIT.done;
  },
});

const SHOWN_PROBLEMS = 20;

/** Reads only, so a host may run at the same time. */
async function checkDeep(target: Target): Promise<Finding> {
  const { checkSqliteFile } = await import('@weft/storage');
  const check = 'database, deep';
  const problems = checkSqliteFile(target.folder.database);
  if (problems.length === 0) return { check, state: 'ok', text: 'every page and every log is in order' };
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ runId, message }) => (runId === undefined ? message : `${runId}: ${message}`));
  const more = problems.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return { check, state: 'wrong', text, advice: 'Restore the file from a backup.' };
}

/** Someone who looks at the file may have stopped the host for it. */
function withoutHost(finding: Finding): Finding {
  return finding.check === 'host' && finding.state === 'wrong' ? { ...finding, state: 'warning' } : finding;
}

function print(cli: Cli, findings: readonly Finding[]): void {
  for (const finding of findings) {
    cli.io.stdout.write(`${cli.json ? JSON.stringify(finding) : lineOf(cli.style, finding)}\n`);
  }
}

function lineOf(style: Style, finding: Finding): string {
  const mark = { ok: style.green('ok     '), warning: style.yellow('warning'), wrong: style.red('wrong  ') }[
    finding.state
  ];
  const advice =
    finding.advice === undefined
      ? ''
      : `\n         ${asTypedHere(finding.advice).replaceAll('\n', '\n         ')}`;
  return `${mark}  ${finding.check}: ${visibleText(finding.text)}${advice}`;
}
