import type { Retention } from '@weft/sdk';
import { type Cli, group, HOST_ARGS, leaf } from '../parsing/command.ts';
import { connect } from '../connecting/connection.ts';
import { EXIT, type ExitCode, usageError } from '../exit-code.ts';
import { parseSpan } from '../parsing/moment.ts';
import { shown } from '../output/terminal-text.ts';

const TENANT_ARGS = {
  tenant: { type: 'string', valueHint: 'NAME', description: 'Of this tenant instead of your own' },
} as const;

const show = leaf({
  name: 'show',
  summary: 'Show how long runs are kept after their end',
  examples: ['weft retention show', 'weft retention show --tenant acme --json'],
  args: { ...TENANT_ARGS, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    return print(cli, await client.operations.retention(args.tenant));
  },
});

const set = leaf({
  name: 'set',
  summary: 'Set how long runs are kept after their end; older ones are removed within the hour',
  examples: ['weft retention set 30d', 'weft retention set forever', 'weft retention set default'],
  args: {
    time: {
      type: 'positional',
      description: '12h, 30d, 12w; forever; or default, the setting of the host',
      required: true,
    },
    ...TENANT_ARGS,
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const keep = args.time === 'default' ? undefined : secondsOf(args.time);
    const { client } = await connect(cli.io, args);
    const retention =
      keep === undefined
        ? await client.operations.resetRetention(args.tenant)
        : await client.operations.setRetention(keep, args.tenant);
    return print(cli, retention);
  },
});

/** The runs of a tenant, after their end. */
export const retention = group('retention', 'Show and set how long runs are kept', [show, set]);

function secondsOf(text: string): number | null {
  if (text === 'forever') return null;
  const span = parseSpan(text);
  if (span === undefined || span < 3_600_000)
    throw usageError(
      `weft retention set takes 1h or more, such as 30d, or forever or default; not "${text}".`,
    );
  return Math.floor(span / 1_000);
}

function print(cli: Cli, found: Retention): ExitCode {
  const { tenant, keepForSeconds, isDefault } = found;
  const time = keepForSeconds === null ? 'forever' : `${spanText(keepForSeconds)} after their end`;
  const text = `Runs of ${tenant} are kept ${time}${isDefault ? ', the default of the host' : ''}.`;
  cli.io.stdout.write(shown`${cli.json ? JSON.stringify(found) : text}\n`);
  return EXIT.done;
}

function spanText(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  return seconds % 3_600 === 0 ? `${seconds / 3_600} h` : `${seconds} s`;
}
