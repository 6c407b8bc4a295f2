/**
 * Data of others (published schemas, fixtures, evidence) is no part of this project. Where it stands next to the checkout, tests whose
 * name begins with EXTRA compare with it too; they are registered only then, so that nothing is skipped in a clone without it.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export const EXTRA = 'extra check: ';

const outside = resolve(import.meta.dirname, '../..', process.env.WEFT_OUTSIDE_DATA || 'shared');
const folders = {
  WEFT_OPENWOP_DATA: resolve(outside, 'openwop'),
  WEFT_ASSAY_DATA: resolve(outside, 'assay/data'),
};

/** For the tests' environment: the folders that are there. */
export const OUTSIDE_DATA = Object.fromEntries(
  Object.entries(folders).filter(([, folder]) => existsSync(folder)),
);
