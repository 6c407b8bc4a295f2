import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './bootstrap.mjs';
import { sourceFiles } from './docs/source-files.mjs';

const PROTOCOL = 'packages/protocol/src';

/** Speaks to collectors of telemetry, whose paths are theirs. */
const OF_OTHERS = 'packages/server/src/telemetry/otlp-post.ts';
/** The name of a type, which no path leads to. */
const OF_ENVELOPES = `${PROTOCOL}/errors/grpc-status.ts`;

const textOf = (file) => readFileSync(join(ROOT, file), 'utf8');

/** What a module imports when it runs, directly or through files of its package; packages by their names. */
function importsOf(file, seen = new Set()) {
  seen.add(file);
  for (const [, target] of textOf(file).matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)';/gms)) {
    const next = target.startsWith('.') ? join(dirname(file), target) : target;
    if (seen.has(next)) continue;
    if (target.startsWith('.')) importsOf(next, seen);
    else seen.add(next);
  }
  return seen;
}

describe('paths', () => {
  it('are spelled in the table of endpoints and in no other file of the host and its clients', () => {
    const spelling = sourceFiles()
      .filter((file) => /^packages\/(protocol|engine|storage|server|sdk|cli)\//.test(file))
      .filter((file) => !/\.test\.ts$|\/(testing|store-contract)\//.test(file))
      .filter((file) => textOf(file).includes('/v1/'));

    expect(spelling).toEqual([OF_ENVELOPES, `${PROTOCOL}/routes/endpoints.ts`, OF_OTHERS]);
  });

  it('reach a client without a schema: what it loads of the protocol imports no package', () => {
    const loaded = [...importsOf(`${PROTOCOL}/plain.ts`)];

    expect(loaded).toContain(`${PROTOCOL}/routes/endpoints.ts`);
    expect(loaded.filter((file) => !file.startsWith(PROTOCOL))).toEqual([]);
  });
});
