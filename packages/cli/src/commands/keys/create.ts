import { SCOPES } from '@weft/protocol/plain';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { parseExpiry } from '../../parsing/moment.ts';
import { shown } from '../../output/terminal-text.ts';

export const create = leaf({
  name: 'create',
  summary: 'Create a key; its secret is printed once',
  examples: [
    'weft keys create ci --scope runs:create,runs:read',
    'weft keys create ada --kind user --scope approvals:respond --expires 30d',
    'weft keys create operator --tenant acme --scope workflows:write,keys:manage',
  ],
  values: { title: 'Scopes', rows: SCOPES },
  args: {
    principal: { type: 'positional', description: 'Who or what will use it', required: true },
    scope: {
      type: 'string',
      alias: 's',
      valueHint: 'SCOPE[,…]',
      description: 'Scopes, at most those of your own key; may be repeated',
    },
    kind: {
      type: 'enum',
      options: ['service', 'user'],
      default: 'service',
      description: 'A program or a person',
    },
    expires: { type: 'string', valueHint: 'TIME', description: 'Expiry: 12h, 30d or an ISO time' },
    tenant: { type: 'string', valueHint: 'NAME', description: 'Tenant of the key (default your own)' },
    workspace: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Workspace that the key is bound to: it reaches the runs of that workspace alone',
    },
    label: { type: 'string', valueHint: 'TEXT', description: 'A note for people' },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { io } = cli;
    const scopes = all('scope')
      .flatMap((text) => text.split(','))
      .map((scope) => scope.trim());
    if (scopes.length === 0 || scopes.includes('')) {
      throw usageError(
        'weft keys create needs --scope, such as --scope runs:create,runs:read. weft keys create --help lists them.',
      );
    }
    const { client } = await connect(io, args);
    const created = await client.keys.create({
      principal: args.principal,
      kind: args.kind === 'user' ? 'user' : 'service',
      scopes,
      ...(args.tenant === undefined ? {} : { tenant: args.tenant }),
      ...(args.workspace === undefined ? {} : { workspace: args.workspace }),
      ...(args.expires === undefined ? {} : { expiresAt: parseExpiry('expires', args.expires, Date.now()) }),
      ...(args.label === undefined ? {} : { label: args.label }),
    });
    io.stdout.write(shown`${cli.json ? JSON.stringify(created) : created.key}\n`);
    if (!cli.json)
      io.stderr.write(
        shown`Key ${created.keyId} for ${created.principal} of ${created.tenant}. It is not shown again.\n`,
      );
    return EXIT.done;
  },
});
