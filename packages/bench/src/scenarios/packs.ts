import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { weft } from '../hosts/contenders.ts';
import type { Lab, Scenario } from '../measuring/scenario.ts';
import { createTally, type Tally } from '../measuring/tally.ts';
import { drive, HTTP, type Kind, type Measured, measureKind, record, register } from './workers.ts';

const CLI = join(import.meta.dirname, '../../../cli/bin/weft.mjs');

const NODE = `
import { defineNode, Type } from '@weft/sdk/nodes';
export const answer = defineNode({
  typeId: 'bench.pack.javascript', version: '1.0.0', category: 'data', role: 'pure',
  inputs: {}, outputs: { body: Type.Unknown() }, run: () => ({ body: { ok: true } }),
});
`;

/** Answers {"body":{"ok":true}}; assembled, in base64. */
const MODULE =
  'AGFzbQEAAAABIgZgAAF/YAACf39gAX8Cf39gAX8Bf2ACf38AYAN/f38Cf38DCAcAAQACAwQFBQQBAQEBB5MBCAZtZW1vcnkCABNv' +
  'cGVud29wX2FiaV92ZXJzaW9uAAARb3BlbndvcF9wYWNrX25hbWUAARJvcGVud29wX25vZGVfY291bnQAAhJvcGVud29wX25vZGVf' +
  'aWRfYXQAAw1vcGVud29wX2FsbG9jAAQMb3BlbndvcF9mcmVlAAUTb3BlbndvcF9ub2RlX2ludm9rZQAGCiwHBABBAQsGAEEQQREL' +
  'BABBAQsHAEHAAEEPCwYAQYCAAgsCAAsHAEGACEE1CwtnAwBBEAsRdmVuZG9yLmJlbmNoLndhc20AQcAACw9iZW5jaC5wYWNrLndh' +
  'c20AQYAICzV7Im91dGNvbWUiOiJjb21wbGV0ZWQiLCJvdXRwdXQiOnsiYm9keSI6eyJvayI6dHJ1ZX19fQ==';

const MANIFEST = {
  name: 'vendor.bench.wasm',
  version: '1.0.0',
  nodes: [{ typeId: 'bench.pack.wasm', version: '1.0.0', category: 'data', role: 'pure' }],
  runtime: { language: 'wasm', entry: 'dist/module.wasm', format: 'wasm' },
};

const JAVASCRIPT: Kind = {
  key: 'javascript',
  title: 'a node of a JavaScript pack that answers',
  workflowId: 'bench-packs-javascript',
  step: { typeId: 'bench.pack.javascript', config: {} },
};
const WASM: Kind = {
  key: 'wasm',
  title: 'a node of a WASM pack that answers',
  workflowId: 'bench-packs-wasm',
  step: { typeId: 'bench.pack.wasm', config: {} },
};
const KINDS = [JAVASCRIPT, WASM];
const CLIENTS = [1, 64];

/** E with nodes of packs in place of `core.http.request`. */
export const packs: Scenario = {
  name: 'packs',
  title: 'E with ten nodes of a pack, in JavaScript and in WASM',
  rawLimit: 'E with core.http.request on the same host, in turn',
  goals: [],
  async measure(lab) {
    const tally = createTally();
    for (let round = 0; round < lab.rounds; round += 1) {
      lab.note(`round ${round + 1}: E with nodes of packs`);
      await measureRound(lab, tally);
    }
    return { figures: tally.figures() };
  },
};

async function measureRound(lab: Lab, tally: Tally): Promise<void> {
  const folder = lab.newFolder('packs');
  const host = await weft.start({ folder }, lab.echo, { WEFT_PACKS: installed(lab.newFolder('packs-made')) });
  lab.cleanUp(() => host.stop());
  for (const kind of KINDS) await register(host, kind);
  const kinds = [HTTP, ...KINDS];
  for (const kind of kinds) await drive(lab, host, kind, 64, lab.warmUpMs);
  for (const clients of CLIENTS) {
    const measured = new Map<string, Measured>();
    for (const kind of kinds) measured.set(kind.key, await measureKind(lab, [host], kind, clients));
    record(tally, { scenario: 'packs', kinds: KINDS, clients }, measured);
  }
  await host.stop();
}

/** Makes both packs and installs them; answers the folder of what is installed. */
function installed(folder: string): string {
  const at = (...path: string[]) => join(folder, ...path);
  const run = (...argv: string[]) => execFileSync(process.execPath, [CLI, 'pack', ...argv], { cwd: folder });
  for (const path of ['packs', 'wasm/dist', 'javascript/nodes']) mkdirSync(at(path), { recursive: true });
  writeFileSync(at('packs/trust.json'), JSON.stringify({ mode: 'allowlist', allow: ['vendor.bench.*'] }));
  writeFileSync(at('wasm/pack.json'), JSON.stringify(MANIFEST));
  writeFileSync(at('wasm/dist/module.wasm'), Buffer.from(MODULE, 'base64'));
  writeFileSync(at('javascript/nodes/answer.ts'), NODE);
  run('build', 'wasm', '-o', 'wasm.tgz');
  run(
    'build',
    'javascript',
    '--name',
    'vendor.bench.javascript',
    '--version',
    '1.0.0',
    '-o',
    'javascript.tgz',
  );
  for (const name of ['wasm', 'javascript']) run('install', `${name}.tgz`);
  return at('packs');
}
