/** `npm run docs`: writes docs/reference from the tables of the protocol, the node types, the settings, the conformance suite and the invariants in source files. A test fails when the pages are out of date. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';
import { renderInvariants } from './docs/invariants.mjs';

ensureReady();
const built = (name, file = 'index.js') =>
  import(pathToFileURL(join(ROOT, 'packages', name, 'dist', file)).href);
const { renderReference } = await built('protocol');
const { BUILTIN_NODE_TYPES, renderNodeReference } = await built('engine');
const { CONFORMANCE_ONLY } = await built('engine', 'conformance/index.js');
const { renderSettingsReference } = await built('cli');
const { renderRequirementsPage } = await built('conformance');
const pages = [
  ...renderReference(),
  { file: 'nodes.md', markdown: renderNodeReference([...BUILTIN_NODE_TYPES, ...CONFORMANCE_ONLY]) },
  { file: 'settings.md', markdown: renderSettingsReference() },
  { file: 'conformance.md', markdown: renderRequirementsPage() },
  { file: 'invariants.md', markdown: renderInvariants() },
];

const folder = join(ROOT, 'docs/reference');
mkdirSync(folder, { recursive: true });
for (const { file, markdown } of pages) {
  writeFileSync(join(folder, file), markdown);
  process.stdout.write(`docs/reference/${file}\n`);
}
