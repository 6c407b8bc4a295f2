/**
 * `npm run docs`: writes docs/reference from the tables of the protocol, the node types, the settings, the conformance suite and the
 * invariants in source files, and the types that clients have without the schemas. A test fails when something of it is out of date.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';
import { renderInvariants } from './docs/invariants.mjs';

ensureReady();
const built = (name) => import(pathToFileURL(join(ROOT, 'packages', name, 'dist/index.js')).href);
const { renderReference, renderWireTypes } = await built('protocol');
const { BUILTIN_NODE_TYPES, renderNodeReference } = await built('engine');
const { renderSettingsReference } = await built('cli');
const { renderRequirementsPage } = await built('conformance');
const pages = [
  ...renderReference(),
  { file: 'nodes.md', markdown: renderNodeReference(BUILTIN_NODE_TYPES) },
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

const types = 'packages/protocol/src/wire-types.ts';
writeFileSync(join(ROOT, types), renderWireTypes());
process.stdout.write(`${types}\n`);
