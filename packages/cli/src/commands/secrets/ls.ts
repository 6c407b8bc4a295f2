import type { SecretSummary } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the secrets of your tenant and your own; values are never shown',
  examples: ['weft secrets ls', 'weft secrets ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const secrets = await client.secrets.list();
    if (cli.json) {
      for (const secret of secrets) cli.io.stdout.write(`${JSON.stringify(secret)}\n`);
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<SecretSummary>(
      cli.style,
      [
        { title: 'SECRET', value: (secret) => secret.id },
        { title: 'FOR', value: (secret) => secret.scope },
        { title: 'STATE', value: (secret) => (secret.usable ? 'usable' : 'stored with another key') },
        { title: 'SET', value: (secret) => agoText(secret.updatedAt, now) },
      ],
      secrets,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});
