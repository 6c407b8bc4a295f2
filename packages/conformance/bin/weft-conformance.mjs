#!/usr/bin/env node
// Runs from the build, so that Node 20 needs no TypeScript loader.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);

if (!existsSync(built)) {
  process.stderr.write('weft-conformance is not built yet. Build it once with: npm run build\n');
  process.exit(3);
}
const { main } = await import(built.href);
process.exitCode = await main(process.argv.slice(2));
