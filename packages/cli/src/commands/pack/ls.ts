import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { leaf } from '../../parsing/command.ts';
import { packsOf } from '../../packs/tenant-folders.ts';
import { withPacks } from '../../packs/with-packs.ts';
import { PACKS_ARGS, partsOf, partsText } from './pack-flags.ts';

interface Row {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Absent where it cannot be loaded. */
  readonly types?: string[];
  readonly agents?: string[];
  /** Code of what keeps it from being loaded. */
  readonly problem?: string;
  readonly message?: string;
}

export const ls = leaf({
  name: 'ls',
  summary: 'List the installed packs, and check each as a host does when it starts',
  examples: ['weft pack ls', 'weft pack ls --packs ./packs --json'],
  args: PACKS_ARGS,
  async run({ cli, args }) {
    const rows = await withPacks(async ({ PackError }) => {
      const { checkCode, loadPack, offerOf, openPackFolder } = await import('../../packs/pack-folder.ts');
      const folder = await openPackFolder(cli.io.cwd, packsOf(args.packs, args.tenant));
      const offer = await offerOf(folder);
      const found: Row[] = [];
      for (const entry of folder.packs) {
        const { name, version, integrity } = entry;
        const parts = async () => {
          const pack = await loadPack(folder, entry, offer);
          await checkCode(pack);
          return partsOf(pack.manifest);
        };
        const outcome = await parts().catch((error: unknown) => {
          if (!(error instanceof PackError)) throw error;
          return { problem: error.code, message: error.message };
        });
        found.push({ name, version, integrity, ...outcome });
      }
      return found;
    });
    const isGood = rows.every(({ problem }) => problem === undefined);
    if (cli.json) for (const row of rows) cli.io.stdout.write(`${JSON.stringify(row)}\n`);
    else if (rows.length === 0)
      cli.io.stderr.write('No packs are installed. Install one: weft pack install FILE\n');
    else cli.io.stdout.write(`${renderTable<Row>(cli.style, COLUMNS, rows)}\n`);
    return isGood ? EXIT.done : EXIT.failed;
  },
});

const COLUMNS = [
  { title: 'PACK', value: ({ name }: Row) => name },
  { title: 'VERSION', value: ({ version }: Row) => version },
  { title: 'STATE', value: ({ problem }: Row) => problem ?? 'ok' },
  { title: 'NODE TYPES AND AGENTS', value: (row: Row) => row.message ?? partsText(row) },
];
