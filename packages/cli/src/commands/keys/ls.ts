import type { KeySummary } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the keys of your tenant; secrets are never shown',
  examples: ['weft keys ls', 'weft keys ls --tenant acme --json'],
  args: {
    tenant: { type: 'string', valueHint: 'NAME', description: 'Tenant of the keys (default your own)' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const items = await client.keys.list(args.tenant);
    if (cli.json) {
      for (const key of items) cli.io.stdout.write(`${JSON.stringify(key)}\n`);
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<KeySummary>(
      cli.style,
      [
        { title: 'KEY', value: (key) => key.keyId },
        { title: 'PRINCIPAL', value: (key) => key.principal },
        { title: 'KIND', value: (key) => key.kind },
        { title: 'STATE', value: (key) => stateOf(key, now) },
        { title: 'CREATED', value: (key) => agoText(key.createdAt, now) },
        { title: 'SCOPES', value: (key) => key.scopes.join(' ') },
      ],
      items,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});

function stateOf(key: KeySummary, now: number): string {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt !== undefined && Date.parse(key.expiresAt) <= now ? 'expired' : 'active';
}
