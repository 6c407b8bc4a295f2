import type { PriceListSummary } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { countText } from '../../output/count-text.ts';
import { renderTable } from '../../output/table.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { agoText } from '../../output/time-text.ts';
import { readPriceFile } from './read-price-file.ts';

export const listPrices = leaf({
  name: 'ls',
  summary: 'List the price lists; of two with the same model the newer date counts',
  examples: ['weft costs prices ls'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const { lists } = await client.costs.prices.list();
    if (cli.json) {
      for (const list of lists) cli.io.stdout.write(`${JSON.stringify(list)}\n`);
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<PriceListSummary>(
      cli.style,
      [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'DATE', value: ({ date }) => date },
        { title: 'MODELS', value: ({ models }) => String(models), align: 'right' },
        { title: 'LICENCE', value: ({ licence }) => licence },
        { title: 'IMPORTED', value: ({ importedAt }) => agoText(importedAt, now) },
        { title: 'SOURCE', value: ({ source = '' }) => source },
      ],
      lists,
    );
    cli.io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});

export const importPrices = leaf({
  name: 'import',
  summary: 'Import prices of models; calls that are on record keep their cost',
  examples: [
    'weft costs prices import prices.json',
    'weft costs prices import model_prices_and_context_window.json --date 2026-11-01 --licence MIT --provider gemini=google',
  ],
  args: {
    file: {
      type: 'positional',
      description: 'A price list of Weft, or the model_prices_and_context_window.json of LiteLLM',
      required: true,
    },
    name: { type: 'string', valueHint: 'NAME', description: 'Of a file without one (default litellm)' },
    date: {
      type: 'string',
      valueHint: 'DAY',
      description: 'Of a file without one: the day its prices are from',
    },
    licence: {
      type: 'string',
      valueHint: 'TEXT',
      description: 'Of a file without one: under which it may be used',
    },
    source: { type: 'string', valueHint: 'URL', description: 'Of a file without one: where it was found' },
    provider: {
      type: 'string',
      valueHint: 'THEIRS=YOURS',
      description: 'A provider that your config file names otherwise than LiteLLM does; may be repeated',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args, all }) {
    const { name, date, licence, source } = args;
    const { list, skipped } = await readPriceFile(cli.io.cwd, args.file, {
      ...(name !== undefined && { name }),
      ...(date !== undefined && { date }),
      ...(licence !== undefined && { licence }),
      ...(source !== undefined && { source }),
      providers: all('provider'),
    });
    const { client } = await connect(cli.io, args);
    const kept = await client.costs.prices.set(list);
    if (cli.json) cli.io.stdout.write(`${JSON.stringify({ ...kept, skipped })}\n`);
    else {
      const rest =
        skipped === 0 ? '' : `; ${countText(skipped, 'entry', 'entries')} without a price of tokens left out`;
      const models = countText(kept.models, 'model');
      cli.io.stdout.write(shown`Imported "${kept.name}" of ${kept.date}: prices of ${models}${rest}.\n`);
    }
    return EXIT.done;
  },
});

export const removePrices = leaf({
  name: 'rm',
  summary: 'Remove a price list; calls that are on record keep their cost',
  examples: ['weft costs prices rm litellm'],
  args: {
    name: { type: 'positional', description: 'As weft costs prices ls shows it', required: true },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.costs.prices.remove(args.name);
    const done = cli.json ? JSON.stringify({ name: args.name, removed: true }) : `Removed "${args.name}".`;
    cli.io.stdout.write(shown`${done}\n`);
    return EXIT.done;
  },
});
