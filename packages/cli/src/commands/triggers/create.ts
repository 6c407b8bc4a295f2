import type { NewTrigger, TriggerScheme } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { readSecretValue } from '../secrets/read-value.ts';

const SCHEMES: Readonly<Record<TriggerScheme, string>> = {
  hmac: 'OpenWOP webhooks: openwop-signature and openwop-timestamp (default)',
  github: 'GitHub: x-hub-signature-256',
  stripe: 'Stripe: stripe-signature; give its signing secret',
  slack: 'Slack: x-slack-signature; give its signing secret',
  'shared-secret': 'the secret itself, in x-weft-secret or Authorization: Bearer',
};

export const create = leaf({
  name: 'create',
  summary: 'Start a workflow by what is delivered to a URL; a secret that is made is printed once',
  examples: [
    'weft triggers create --workflow issue-triage --scheme github --map title=body.issue.title',
    'weft triggers create --workflow invoice-failed --scheme stripe --secret-from-env STRIPE_SIGNING_SECRET',
    'weft triggers create --workflow issue-triage --scheme slack --secret-id slack-signing',
  ],
  args: {
    workflow: { type: 'string', valueHint: 'ID', description: 'The workflow to start' },
    scheme: { type: 'string', valueHint: 'SCHEME', description: 'How the sender signs' },
    map: {
      type: 'string',
      alias: 'm',
      valueHint: 'INPUT=CEL',
      description: 'An input, by an expression over body, headers, deliveryId, receivedAt; may be repeated',
    },
    'secret-from-env': {
      type: 'string',
      valueHint: 'NAME',
      description: 'The sender’s secret, from this variable',
    },
    'secret-id': { type: 'string', valueHint: 'ID', description: 'A secret of weft secrets, instead' },
    'no-dedup': { type: 'boolean', description: 'Start a run for each delivery, also of the same id' },
    ...HOST_ARGS,
  },
  values: { title: 'Schemes', rows: SCHEMES },
  async run({ cli, args, all }) {
    const { io } = cli;
    if (args.workflow === undefined) throw usageError('weft triggers create needs --workflow ID.');
    const fromEnv = args['secret-from-env'];
    const mapping = mappingOf(all('map'));
    const wanted: NewTrigger = {
      workflowId: args.workflow,
      ...(args.scheme !== undefined && { scheme: parseScheme(args.scheme) }),
      ...(Object.keys(mapping).length > 0 && { inputMapping: mapping }),
      ...(fromEnv !== undefined && { secret: await readSecretValue(io, fromEnv, process.stdin) }),
      ...(args['secret-id'] !== undefined && { secretId: args['secret-id'] }),
      ...(args['no-dedup'] === true && { dedupEnabled: false }),
    };
    const { client } = await connect(io, args);
    const made = await client.triggers.create(wanted);
    if (cli.json) io.stdout.write(`${JSON.stringify(made)}\n`);
    else {
      io.stdout.write(shown`${made.ingestUrl}\n`);
      if (made.secret !== undefined) io.stdout.write(shown`${made.secret}\n`);
      const note =
        made.secret === undefined ? '' : ' The second line is its secret, which is not shown again.';
      io.stderr.write(shown`Trigger ${made.id}. Deliveries go to the URL.${note}\n`);
    }
    return EXIT.done;
  },
});

function mappingOf(given: readonly string[]): Record<string, string> {
  const mapping: Record<string, string> = {};
  for (const text of given) {
    const equals = text.indexOf('=');
    if (equals < 1)
      throw usageError(`--map takes INPUT=EXPRESSION, not "${text}". Example: --map title=body.title`);
    mapping[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return mapping;
}

function parseScheme(text: string): TriggerScheme {
  const known = Object.keys(SCHEMES).find((scheme): scheme is TriggerScheme => scheme === text);
  if (known !== undefined) return known;
  throw usageError(`--scheme takes one of ${Object.keys(SCHEMES).join(', ')}, not "${text}".`);
}
