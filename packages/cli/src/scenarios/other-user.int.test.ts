import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moduleText, wasmOf } from '@weft/packs/test-modules';
import { createClient } from '@weft/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort, type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { weft } from '../testing/served.ts';

/** Packs on a host that is not run by root. */
const BIN = new URL('../../bin/weft.mjs', import.meta.url).pathname;
const KEY = 'a-key-of-the-tests-of-another-user';
const USER = 65_534;
const AS_USER = ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
/** In another root folder the kernel makes no user namespaces for users without privileges. */
const REFUSED = 'mount --rbind / "$0" && exec chroot "$0" "$@"';

function succeeds([command = '', ...args]: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Root on Linux alone can start a host as another user; scripts/test.mjs says where it cannot. */
const canStart = succeeds([...AS_USER, process.execPath, BIN, '--version']);
const SYSTEMS = canStart ? ['that has user namespaces', 'that refuses them'] : [];

const PROBE = `import { defineNode, Type } from '@weft/sdk/nodes';
const failure = (error: unknown) => String((error as { code?: string }).code);
export const probe = defineNode({
  typeId: 'acme.probe', version: '1.0.0', category: 'data', role: 'pure',
  inputs: { port: Type.Number(), pid: Type.Number() },
  outputs: { network: Type.String(), file: Type.String(), signal: Type.String() },
  async run({ inputs: { port, pid } }) {
    const { connect } = await import('node:net');
    const { readFileSync } = await import('node:fs');
    const attempt = (act: () => unknown) => { try { act(); return 'done'; } catch (error) { return failure(error); } };
    const network = await new Promise<string>((done) => {
      const socket = connect(port, '127.0.0.1', () => { socket.destroy(); done('done'); });
      socket.on('error', (error) => done(failure(error)));
    });
    return { network, file: attempt(() => readFileSync('/etc/passwd')), signal: attempt(() => process.kill(pid, 0)) };
  },
});
`;

let folder: string;
let root: string;
let host: HostProcess | undefined;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-user-')));
  root = await mkdtemp(join(tmpdir(), 'weft-root-'));
});
afterEach(async () => {
  await host?.stop();
  host = undefined;
  await rm(folder, { recursive: true, force: true });
  // Its mounts were seen by the host alone; were they not, there would be something in it.
  await rmdir(root);
});

async function give(path: string): Promise<void> {
  for (const entry of await readdir(path, { recursive: true })) await chown(join(path, entry), USER, USER);
  await chown(path, USER, USER);
}

/** What a command is written behind to be run by the user, in the folder. */
function userOn(system: string): readonly string[] {
  const inFolder = [...AS_USER, 'env', `--chdir=${folder}`];
  if (system === 'that has user namespaces') return inFolder;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', REFUSED, root, ...inFolder];
}

describe('a host of a user without privileges', () => {
  it.each(SYSTEMS)('runs packs on a system %s, behind the walls that it names', async (system) => {
    const prefix = userOn(system);
    const run = (...argv: string[]) => {
      const [command = '', ...args] = [...prefix, process.execPath, BIN, ...argv];
      const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
      return { code: status, out: stdout, err: stderr };
    };
    for (const path of ['js', 'wasm/dist', 'packs']) await mkdir(at(path), { recursive: true });
    await writeFile(at('js/probe.ts'), PROBE);
    const node = { typeId: 'acme.hello.greet', version: '1.0.0', category: 'data', role: 'pure' };
    const runtime = { language: 'wasm', entry: 'dist/hello.wasm', format: 'wasm' };
    const manifest = { name: 'vendor.acme.hello', version: '1.0.0', nodes: [node], runtime };
    await writeFile(at('wasm/pack.json'), JSON.stringify(manifest));
    await writeFile(at('wasm/dist/hello.wasm'), await wasmOf(moduleText()));
    await writeFile(at('packs/trust.json'), '{"mode":"open"}');
    await weft(folder, ['pack', 'build', 'wasm', '-o', 'wasm.tgz']);
    await weft(folder, [
      'pack',
      'build',
      'js',
      '--name',
      'vendor.acme.js',
      '--version',
      '1.0.0',
      '-o',
      'js.tgz',
    ]);
    await give(folder);
    await chmod(root, 0o755);

    const doctor = run('doctor');
    const wasm = run('pack', 'install', 'wasm.tgz');
    const javascript = run('pack', 'install', 'js.tgz', '--json');
    await writeFile(at('packs/trust.json'), '{"mode":"allowlist","allow":["vendor.acme.*"]}');
    const allowed = run('pack', 'install', 'js.tgz');

    const isWalled = succeeds([...prefix, 'unshare', '--user', '--map-root-user', '--net', 'true']);
    if (system === 'that refuses them') expect(isWalled).toBe(false);
    expect(doctor.out).toContain(
      isWalled
        ? 'run in namespaces of their own, without network, as the same user'
        : 'only in the trust modes pinned and allowlist: the system refuses them',
    );
    expect([wasm.code, allowed.code], wasm.err + allowed.err).toEqual([0, 0]);
    expect(javascript.code, javascript.err).toBe(isWalled ? 0 : 3);
    if (!isWalled) expect(javascript.err).toContain('"unsupported_runtime"');

    const port = await freePort();
    host = await startHostProcess({
      ...{ dataFolder: at('data'), port, apiKey: KEY, flags: ['--packs', at('packs')] },
      behind: prefix,
    });
    const client = createClient({ baseUrl: host.url, apiKey: KEY });
    await expect.poll(host.output, { timeout: 30_000 }).toContain('acme.probe@1.0.0');
    const fixed = (value: number) => ({ type: 'static' as const, value });
    await client.workflows.register({
      id: 'both',
      version: '1',
      nodes: [
        { id: 'hello', typeId: 'acme.hello.greet' },
        { id: 'probe', typeId: 'acme.probe', inputs: { port: fixed(port), pid: fixed(host.pid) } },
      ],
      edges: [{ id: 'e', sourceNodeId: 'hello', targetNodeId: 'probe' }],
    });
    const { runId } = await client.runs.create({ workflowId: 'both' });
    const ended = await client.runs.waitFor(runId);

    expect(ended).toMatchObject({ status: 'completed', outputs: { file: 'ERR_ACCESS_DENIED' } });
    if (isWalled) expect(ended.outputs).toMatchObject({ network: 'ENETUNREACH', signal: 'ESRCH' });
  });
});
