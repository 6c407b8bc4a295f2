import { group } from '../../parsing/command.ts';
import { importPrices, listPrices, removePrices } from './prices.ts';
import { ls } from './ls.ts';

export const costs = group('costs', 'See what model calls have cost, and by which prices', [
  ls,
  group('prices', 'Manage the prices of models', [listPrices, importPrices, removePrices]),
]);
