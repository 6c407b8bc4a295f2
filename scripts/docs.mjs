/**
 * `npm run docs`: writes docs/reference from the tables of the protocol, the node types, the settings, the conformance suite and the
 * invariants in source files, and the documents that hosts publish and the types that clients
 * have without the schemas into the packages of the protocol and the SDK. Tests fail when they are out of date.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady, ROOT } from './bootstrap.mjs';
import { renderInvariants } from './docs/invariants.mjs';

ensureReady();
const built = (name, file = 'index.js') =>
  import(pathToFileURL(join(ROOT, 'packages', name, 'dist', file)).href);
const { documentFiles, renderReference, renderWireTypes } = await built('protocol');
const { BUILTIN_NODE_TYPES, renderNodeReference, renderTypedNodes } = await built('engine');
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

const documents = 'packages/protocol/documents';
// All of it is made before the first file is touched: what cannot be rendered leaves everything as it was.
const files = [
  ...pages.map(({ file, markdown }) => ({ file: join('docs/reference', file), text: markdown })),
  ...documentFiles().map(({ file, text }) => ({ file: join(documents, file), text })),
  { file: 'packages/protocol/src/wire-types.ts', text: renderWireTypes() },
  { file: 'packages/sdk/src/workflows/builtin-types.ts', text: renderTypedNodes(BUILTIN_NODE_TYPES) },
];

rmSync(join(ROOT, documents), { recursive: true, force: true });
for (const { file, text } of files) write(file, text);

function write(file, text) {
  mkdirSync(dirname(join(ROOT, file)), { recursive: true });
  writeFileSync(join(ROOT, file), text);
  process.stdout.write(`${file}\n`);
}
