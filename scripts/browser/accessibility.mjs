/** What axe-core finds wrong with a page as it is now. */
import { readFileSync } from 'node:fs';
import { axePath } from './browser.mjs';

const SERIOUS = ['serious', 'critical'];

/** Each finding as one line, so that a test that expects none shows what to do. */
export async function seriousFindings(page) {
  // Evaluated and not added as a script: the policy of the page allows no script but its own.
  await page.evaluate(readFileSync(axePath(), 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run(globalThis.document));
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(
      ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ target }) => target.join(' ')).join('; ')})`,
    );
}
