import type { ModelProviderEntry } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderFields, renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the providers of language models that the host can ask',
  examples: ['weft models ls', 'weft models ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const models = await client.models.list();
    if (cli.json) {
      io.stdout.write(`${JSON.stringify(models)}\n`);
      return EXIT.done;
    }
    if (models.providers.length === 0) {
      io.stderr.write(
        'This host has no language models. They are configured under "models" in its config file.\n',
      );
      return EXIT.done;
    }
    const fields = renderFields(cli.style, [
      ['default', models.default ?? 'none'],
      ['fallback', models.fallback.length === 0 ? undefined : models.fallback.join(', ')],
    ]);
    io.stdout.write(
      `${renderTable<ModelProviderEntry>(cli.style, COLUMNS, models.providers)}\n\n${fields}\n`,
    );
    return EXIT.done;
  },
});

const COLUMNS = [
  { title: 'PROVIDER', value: ({ name }: ModelProviderEntry) => name },
  { title: 'KIND', value: ({ kind }: ModelProviderEntry) => kind },
  { title: 'POLICY', value: policyText },
  {
    title: 'OWN KEYS',
    value: ({ takesCredentials }: ModelProviderEntry) => (takesCredentials ? 'yes' : 'no'),
  },
  { title: 'ADDRESS', value: ({ baseUrl }: ModelProviderEntry) => baseUrl ?? '' },
];

function policyText({ policy: { mode, allowedModels } }: ModelProviderEntry): string {
  return allowedModels === undefined ? mode : `${mode}: ${allowedModels.join(', ') || 'none'}`;
}
