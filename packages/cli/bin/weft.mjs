#!/usr/bin/env node
// The command line runs from its build, so that Node 20 needs no TypeScript loader.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);

if (!existsSync(built)) {
  process.stderr.write('weft is not built yet. Build it once with: npm run build\n');
  process.exit(3);
}

const argv = process.argv.slice(2);
const { processIo } = await import(new URL('../dist/io.js', import.meta.url).href);
const run =
  argv[0] === 'serve'
    ? (await import(new URL('../dist/serve/thread/host-thread.js', import.meta.url).href)).mainOnThread
    : (await import(built.href)).main;
process.exitCode = await run(argv, processIo());
