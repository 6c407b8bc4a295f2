import { userInfo } from 'node:os';
import { leaf } from '../../parsing/command.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { visibleText } from '../../output/terminal-text.ts';
import { settingArgs } from '../../serve/settings/setting-args.ts';
import type { SettingSources } from '../../serve/settings/settings.ts';

const MAX_REASON = 500;

export const reanchor = leaf({
  name: 'reanchor',
  summary: 'Accept the audit log as it is now, as after a restore; stop every host first',
  examples: [
    'weft audit reanchor --audit-anchor /mnt/safe/weft.anchor --reason "restored the backup of 31 January"',
    'WEFT_STORE=postgres://weft@db/weft weft audit reanchor --audit-anchor /mnt/safe/weft.anchor --reason "failover to a replica"',
  ],
  args: {
    reason: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the audit log' },
    ...settingArgs('audit-anchor', 'data', 'store', 'store-schema', 'config'),
  },
  async run({ cli, args, all }) {
    const reason = args.reason?.trim() ?? '';
    if (reason === '')
      throw usageError('weft audit reanchor needs --reason TEXT: it is recorded in the audit log.');
    if (reason.length > MAX_REASON || visibleText(reason) !== reason)
      throw usageError(`--reason takes one line of at most ${MAX_REASON} printable characters.`);
    // Loaded here, so that every other command starts without a host's worth of modules.
    const { reanchorHost } = await import('../../serve/keys/reanchor.ts');
    const flags = all as SettingSources['flags'];
    const { before, after, file } = await reanchorHost(cli, flags, { actor: userInfo().username, reason });
    const said = cli.json
      ? JSON.stringify({ file, before: before ?? null, after })
      : `${file}  now at checkpoint ${after.number}, up to sequence ${after.sequence}` +
        (before === undefined ? '' : ` (before: checkpoint ${before.number}, up to ${before.sequence})`);
    cli.io.stdout.write(`${said}\n`);
    return EXIT.done;
  },
});
