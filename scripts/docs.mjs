/** `npm run docs`: writes docs/reference from the tables of the protocol. A test fails when the pages are out of date. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';

ensureReady();
const { renderReference } = await import(pathToFileURL(join(ROOT, 'packages/protocol/dist/index.js')).href);

const folder = join(ROOT, 'docs/reference');
mkdirSync(folder, { recursive: true });
for (const { file, markdown } of renderReference()) {
  writeFileSync(join(folder, file), markdown);
  process.stdout.write(`docs/reference/${file}\n`);
}
