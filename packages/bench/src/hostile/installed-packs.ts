import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@weft/protocol';
import { archiveOf } from './pack-archives.ts';
import { INSTRUCTIONS, moduleBytes, type ModuleParts } from './wasm-bytes.ts';

/** Packs that an operator has installed for both tenants: hostile ones for the one, an ordinary one of each kind for the other. */

/** By the last part of its node type. Installed, and hostile when it is called. */
export const MODULES: Readonly<Record<string, Pick<ModuleParts, 'invoke' | 'alloc' | 'start'>>> = {
  loops: { invoke: INSTRUCTIONS.loops },
  starts: { invoke: INSTRUCTIONS.answers, start: INSTRUCTIONS.loopsOnceItIsTime },
  grows: { invoke: INSTRUCTIONS.grows },
  recurses: { invoke: INSTRUCTIONS.recurses },
  lies: { invoke: INSTRUCTIONS.liesAboutItsAnswer },
  misplaces: { invoke: INSTRUCTIONS.answers, alloc: INSTRUCTIONS.liesAboutItsMemory },
  asks: { invoke: INSTRUCTIONS.asksWithoutEnd },
};

const FS = `const fs = await import('node:fs');`;
const TRIED = `const tried = {}; const attempt = async (name, act) => { try { await act(); tried[name] = 'done'; } catch (error) { tried[name] = String(error.code ?? error.message); } };`;

/** Bodies of functions in JavaScript, by the last part of their node type. */
export const FUNCTIONS: Readonly<Record<string, string>> = {
  loops: 'for (;;) {}',
  hoards: 'const all = []; for (;;) all.push(new Array(100000).fill(all.length));',
  swells:
    'const all = []; for (;;) { all.push(Buffer.alloc(8 * 1024 * 1024, 1)); await new Promise((done) => setTimeout(done, 5)); }',
  prints:
    'for (let at = 0; at < 200000; at += 1) { console.log("x".repeat(1000)); process.stderr.write("x".repeat(1000)); } return {};',
  rambles: `${FS} const line = 'x'.repeat(65536); for (;;) { try { fs.writeSync(3, line); } catch (error) { if (error.code !== 'EAGAIN') throw error; } }`,
  misleads: `${FS} fs.writeSync(3, '{"kind":"done","id":123456,"outputs":"no"}\\n{"kind":"loaded","typeIds":7}\\nnull\\n'); await new Promise(() => setInterval(() => 0, 1000));`,
  chats: 'for (;;) { log("info", "x".repeat(1000)); emit("x".repeat(1000)); heartbeat(); await null; }',
  babbles:
    'for (;;) { for (let at = 0; at < 100; at += 1) log("info", "x".repeat(1000)); await new Promise((done) => setTimeout(done, 1)); }',
  leaves: 'process.exit(0);',
  aborts: 'process.abort();',
  kills: `${TRIED} for (const pid of [process.ppid, 1, -1]) await attempt('kill ' + pid, () => process.kill(pid, 'SIGKILL')); return { tried };`,
  breaks: `${TRIED}
    const { connect } = await import('node:net');
    const reach = (...to) => new Promise((done, failed) => { const socket = connect(...to, () => { socket.destroy(); done(); }); socket.on('error', failed); });
    await attempt('fork', async () => (await import('node:child_process')).execFileSync('/bin/true'));
    await attempt('thread', async () => new (await import('node:worker_threads')).Worker('1', { eval: true }));
    await attempt('file', async () => (await import('node:fs')).readFileSync('/etc/passwd'));
    await attempt('addon', () => process.dlopen({ exports: {} }, '/lib/none.node'));
    await attempt('host', () => reach(inputs.port, '127.0.0.1'));
    await attempt('fetch', () => fetch('http://169.254.169.254/'));
    const done = Object.keys(tried).filter((name) => tried[name] === 'done');
    if (done.length > 0) throw new Error('it could do ' + done.join(', '));
    throw Object.assign(new Error('kept in'), { name: 'NodeError', code: 'kept_in' });`,
  fetches:
    'const all = Array.from({ length: 20000 }, () => fetch("http://127.0.0.1:9/").catch(() => 0)); await Promise.all(all); return {};',
};

const CLI = join(import.meta.dirname, '../../../cli/bin/weft.mjs');

export const WASM_TYPE = (name: string): string => `hostile.wasm.${name}`;
export const JAVASCRIPT_TYPE = (name: string): string => `hostile.js.${name}`;
/** Those of the other tenant. */
export const NEIGHBOUR_TYPES = ['neighbour.wasm.answers', 'neighbour.js.answers'] as const;

const nodeOf = (typeId: string): JsonObject => ({ typeId, version: '1.0.0', category: 'data', role: 'pure' });

export function wasmArchive(name: string, typeId: string, bytes: Uint8Array): Buffer {
  const manifest = {
    ...{ name, version: '1.0.0', engines: { openwop: '^1.0.0' }, nodes: [nodeOf(typeId)] },
    runtime: { language: 'wasm', entry: 'dist/a.wasm' },
  };
  return archiveOf([
    { name: 'pack.json', data: JSON.stringify(manifest) },
    { name: 'dist/a.wasm', data: bytes },
  ]);
}

function javascriptArchive(name: string, bodies: Readonly<Record<string, string>>): Buffer {
  const manifest = {
    ...{ name, version: '1.0.0', engines: { openwop: '^1.0.0' }, nodes: Object.keys(bodies).map(nodeOf) },
    runtime: { language: 'javascript', entry: 'dist/a.mjs', format: 'esm' },
  };
  const code = Object.entries(bodies).map(
    ([typeId, body]) => `{ typeId: '${typeId}', async run({ inputs, log, emit, heartbeat }) { ${body} } }`,
  );
  return archiveOf([
    { name: 'pack.json', data: JSON.stringify(manifest) },
    { name: 'dist/a.mjs', data: `export const nodes = [${code.join(',\n')}];` },
  ]);
}

export interface Installation {
  readonly archive: Uint8Array;
  readonly trust: JsonObject;
  readonly signature?: Uint8Array;
}

/** `weft pack install` in a folder of its own; answers the code with which it was refused, or `installed`. */
export async function installing({ archive, trust, signature }: Installation): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-hostile-install-'));
  try {
    mkdirSync(join(folder, 'packs'));
    writeFileSync(join(folder, 'packs/trust.json'), JSON.stringify(trust));
    writeFileSync(join(folder, 'a.tgz'), archive);
    if (signature !== undefined) writeFileSync(join(folder, 'a.tgz.sig'), signature);
    return await install(folder, 'a.tgz', []);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function install(folder: string, file: string, flags: readonly string[]): Promise<string> {
  const args = [CLI, 'pack', 'install', file, '--json', ...flags];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, timeout: 30_000 }, (error, _, stderr) => {
      if (error === null) return resolve('installed');
      resolve(/"error":"([a-z_]+)"/.exec(stderr)?.[1] ?? `ended by ${error.signal ?? String(error.code)}`);
    });
  });
}

/** Installs all of them below a folder; answers the one for `weft serve --packs`. */
export async function installAll(folder: string): Promise<string> {
  const packs = join(folder, 'packs');
  mkdirSync(packs, { recursive: true });
  const allow = ['vendor.hostile.*', 'vendor.neighbour.*'];
  writeFileSync(join(packs, 'trust.json'), JSON.stringify({ mode: 'allowlist', allow }));
  const modules = Object.entries(MODULES).map(([word, parts]): [string, string, Buffer] => {
    const name = `vendor.hostile.${word}`;
    const typeId = WASM_TYPE(word);
    return ['hostile', name, wasmArchive(name, typeId, moduleBytes({ name, typeId, ...parts }))];
  });
  const bodies = Object.entries(FUNCTIONS).map(([word, body]) => [JAVASCRIPT_TYPE(word), body]);
  const [wasmType, jsType] = NEIGHBOUR_TYPES;
  const calm = 'vendor.neighbour.wasm';
  const answering = moduleBytes({ name: calm, typeId: wasmType, invoke: INSTRUCTIONS.answers });
  const all: [string, string, Buffer][] = [
    ...modules,
    ['hostile', 'vendor.hostile.js', javascriptArchive('vendor.hostile.js', Object.fromEntries(bodies))],
    ['neighbour', calm, wasmArchive(calm, wasmType, answering)],
    [
      'neighbour',
      'vendor.neighbour.js',
      javascriptArchive('vendor.neighbour.js', { [jsType]: 'return {};' }),
    ],
  ];
  for (const [tenant, name, archive] of all) {
    writeFileSync(join(folder, `${name}.tgz`), archive);
    const outcome = await install(folder, `${name}.tgz`, ['--tenant', tenant, '--packs', packs]);
    if (outcome !== 'installed') throw new Error(`${name} was not installed: ${outcome}`);
  }
  return packs;
}
