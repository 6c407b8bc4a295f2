import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { moduleText, wasmOf } from '@weft/packs/test-modules';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { recordedIo } from '../../testing/recorded-io.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'weft-pack-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What stdout or stderr says as JSON. */
  readonly json: Record<string, unknown>;
}

async function weft(...argv: string[]): Promise<Ran> {
  const io = recordedIo({ cwd: folder });
  const code = await main(argv, io);
  const line = io.out().trim().split('\n')[0] || io.err().trim();
  return { code, out: io.out(), err: io.err(), json: argv.includes('--json') ? JSON.parse(line) : {} };
}

async function wasmPack(
  change: { readonly name?: string; readonly [field: string]: unknown } = {},
): Promise<void> {
  const manifest = {
    name: 'vendor.acme.hello',
    version: '1.0.0',
    nodes: [{ typeId: 'acme.hello.greet', version: '1.0.0', category: 'data', role: 'pure' }],
    runtime: { language: 'wasm', entry: 'dist/hello.wasm', format: 'wasm' },
    ...change,
  };
  await write('hello/pack.json', JSON.stringify(manifest));
  await write('hello/dist/hello.wasm', await wasmOf(moduleText({ name: manifest.name })));
}

async function newKey(name: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519');
  await write(name, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  await chmod(join(folder, name), 0o600);
}

async function signed(): Promise<string> {
  await newKey('acme.pem');
  await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
  const { json } = await weft('pack', 'sign', 'hello.tgz', '--key', 'acme.pem', '--kid', 'acme-1', '--json');
  return String(json['publicKey']);
}

async function trust(publicKey: string, change: object = {}): Promise<void> {
  const key = {
    kid: 'acme-1',
    algorithm: 'ed25519',
    publicKey,
    validFrom: '2020-01-01T00:00:00Z',
    ...change,
  };
  await write('packs/trust.json', JSON.stringify({ keychains: [{ namespace: 'vendor.acme', keys: [key] }] }));
}

describe('weft pack', () => {
  it('builds, signs, verifies, installs, lists and removes a pack', async () => {
    await wasmPack();
    await trust(await signed());

    const verified = await weft('pack', 'verify', 'hello.tgz', '--json');
    const installed = await weft('pack', 'install', 'hello.tgz', '--json');
    const listed = await weft('pack', 'ls', '--json');
    const shown = await weft('pack', 'ls');
    const removed = await weft('pack', 'rm', 'vendor.acme.hello');

    expect(verified.json).toMatchObject({ name: 'vendor.acme.hello', mode: 'verified', signedBy: 'acme-1' });
    expect(installed.json).toMatchObject({
      resolved: 'vendor.acme.hello-1.0.0.tgz',
      integrity: verified.json['integrity'],
    });
    expect(listed).toMatchObject({ code: 0, json: { types: ['acme.hello.greet'] } });
    expect(shown.out).toContain('acme.hello.greet');
    expect(removed).toMatchObject({ code: 0, out: 'Removed vendor.acme.hello 1.0.0\n' });
    expect((await readdir(join(folder, 'packs'))).sort()).toEqual(['pack-lock.json', 'trust.json']);
  });

  it('builds a pack of files of node types: one module that needs nothing else, and their schemas', async () => {
    await weft('pack', 'init', 'vendor.acme.payments', 'payments');
    await write('payments/nodes/greet.test.ts', 'throw new Error("not a node");');

    const built = await weft(
      'pack',
      'build',
      'payments/nodes',
      '--name',
      'vendor.acme.payments',
      '--version',
      '2.0.0',
      '--json',
    );
    const again = await weft('pack', 'build', 'payments', '--version', '2.0.0', '-o', 'again.tgz', '--json');

    expect(built).toMatchObject({ code: 0, json: { name: 'vendor.acme.payments', version: '2.0.0' } });
    expect(again.code).toBe(0);
    const archive = join(folder, String(built.json['file']));
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    const manifest = JSON.parse(await readFile(join(folder, 'pack.json'), 'utf8'));
    expect(manifest).toMatchObject({
      engines: { openwop: '^1.0.0' },
      runtime: { language: 'javascript', entry: 'dist/index.mjs' },
      nodes: [
        {
          typeId: 'acme.payments.greet',
          label: 'Greet',
          category: 'data',
          inputSchemaRef: 'schemas/acme.payments.greet.inputs.json',
        },
      ],
    });
    const program = `import { nodes } from './dist/index.mjs'; process.stdout.write(nodes[0].run({ inputs: { name: 'Ada' } }).greeting)`;
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder }).toString(),
    ).toBe('Hello, Ada!');
  });

  it('builds the same bytes again', async () => {
    await wasmPack();

    const [one, two] = [
      await weft('pack', 'build', 'hello', '-o', 'one.tgz', '--json'),
      await weft('pack', 'build', 'hello', '-o', 'two.tgz', '--json'),
    ];

    expect(one.json['integrity']).toBe(two.json['integrity']);
  });

  it('refuses to build what is no pack, with code and field, and writes nothing', async () => {
    await wasmPack({ colour: 'red' });
    const wrong = await weft('pack', 'check', 'hello', '--json');
    await wasmPack({ name: 'acme' });
    const unnamed = await weft('pack', 'build', 'hello', '--json');
    await wasmPack();
    await symlink('/etc/passwd', join(folder, 'hello/dist/link'));
    const linked = await weft('pack', 'build', 'hello', '--json');
    await write('bad/nodes/bad.ts', 'const a = ;');
    const broken = await weft(
      'pack',
      'build',
      'bad',
      '--name',
      'vendor.acme.bad',
      '--version',
      '1.0.0',
      '--json',
    );
    await write('none/helper.ts', 'export const a = 1;');
    const empty = await weft('pack', 'build', 'none', '--json');

    expect(wrong).toMatchObject({ code: 1, json: { error: 'invalid_manifest' } });
    expect(String(wrong.json['message'])).toContain('colour');
    expect(unnamed).toMatchObject({ code: 1, json: { error: 'invalid_pack_name' } });
    expect(linked).toMatchObject({ code: 1, json: { error: 'not_packable' } });
    expect(broken).toMatchObject({ code: 1, json: { error: 'user_code' } });
    expect(empty).toMatchObject({ code: 1, json: { error: 'no_node_types' } });
    expect((await readdir(folder)).filter((name) => name.endsWith('.tgz'))).toEqual([]);
  });

  it('installs nothing that is not trusted, and leaves no trace of it (J-2)', async () => {
    await wasmPack();
    const publicKey = await signed();
    await trust(publicKey, { revokedAt: '2020-01-01T00:00:00Z' });
    const revoked = await weft('pack', 'install', 'hello.tgz', '--json');
    await trust(publicKey);
    await rm(join(folder, 'hello.tgz.sig'));
    const unsigned = await weft('pack', 'install', 'hello.tgz', '--json');
    await write('packs/trust.json', '{"mode":"pinned"}');
    const unpinned = await weft('pack', 'install', 'hello.tgz', '--json');
    await write('packs/trust.json', '{"mode":"allowlist","allow":["vendor.other.*"]}');
    const unlisted = await weft('pack', 'install', 'hello.tgz', '--json');
    const verified = await weft('pack', 'verify', 'hello.tgz', '--json');

    expect(revoked).toMatchObject({ code: 3, json: { error: 'signature_unknown_key' } });
    expect(unsigned).toMatchObject({ code: 3, json: { error: 'signature_not_available' } });
    expect(unpinned).toMatchObject({ code: 3, json: { error: 'pack_not_pinned' } });
    expect(unlisted).toMatchObject({ code: 3, json: { error: 'pack_not_approved' } });
    expect(verified).toMatchObject({ code: 1, json: { error: 'pack_not_approved' } });
    expect(await readdir(join(folder, 'packs'))).toEqual(['trust.json']);
  });

  it('installs no module that is not what its manifest says', async () => {
    await write('packs/trust.json', '{"mode":"open"}');
    await wasmPack();
    await write('hello/dist/hello.wasm', await wasmOf(moduleText({ abi: 2 })));
    await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
    const newer = await weft('pack', 'install', 'hello.tgz', '--json');
    await write('hello/dist/hello.wasm', await wasmOf(moduleText({ without: 'openwop_alloc' })));
    await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
    const lacking = await weft('pack', 'install', 'hello.tgz', '--json');

    expect(newer).toMatchObject({ code: 3, json: { error: 'unsupported_abi_version' } });
    expect(lacking).toMatchObject({ code: 3, json: { error: 'wasm_module_invalid' } });
    expect(await readdir(join(folder, 'packs'))).toEqual(['trust.json']);
  });

  it('finds at every look what was changed after the installation', async () => {
    await wasmPack();
    await trust(await signed());
    await weft('pack', 'install', 'hello.tgz');
    const archive = join(folder, 'packs/vendor.acme.hello-1.0.0.tgz');
    await writeFile(archive, Buffer.concat([await readFile(archive), Buffer.of(0)]));

    const changed = await weft('pack', 'ls', '--json');
    await rm(archive);
    const missing = await weft('pack', 'ls', '--json');

    expect(changed).toMatchObject({ code: 1, json: { problem: 'pack_integrity_mismatch' } });
    expect(missing).toMatchObject({ code: 1, json: { problem: 'pack_lockfile_incomplete' } });
  });

  it('never changes a version that is installed, and keeps what others depend on', async () => {
    await write('packs/trust.json', '{"mode":"open"}');
    await wasmPack();
    await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
    await weft('pack', 'install', 'hello.tgz');
    await wasmPack({ description: 'Other bytes.' });
    await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
    const other = await weft('pack', 'install', 'hello.tgz', '--json');
    await wasmPack({ name: 'vendor.acme.more', dependencies: { 'vendor.acme.hello': '^1.0.0' } });
    await weft('pack', 'build', 'hello', '-o', 'more.tgz');
    await weft('pack', 'install', 'more.tgz');
    const needed = await weft('pack', 'rm', 'vendor.acme.hello', '--json');
    const unknown = await weft('pack', 'rm', 'vendor.acme.none', '--json');

    expect(other).toMatchObject({ code: 3, json: { error: 'pack_integrity_failure' } });
    expect(needed).toMatchObject({ code: 3, json: { error: 'pack_lockfile_incomplete' } });
    expect(unknown).toMatchObject({ code: 3, json: { error: 'pack_version_not_found' } });
  });

  it('takes no key that others may read, and shows none in an error', async () => {
    await wasmPack();
    await newKey('acme.pem');
    await weft('pack', 'build', 'hello', '-o', 'hello.tgz');
    await chmod(join(folder, 'acme.pem'), 0o644);
    const exposed = await weft('pack', 'sign', 'hello.tgz', '--key', 'acme.pem', '--kid', 'a', '--json');
    await write('wrong.pem', 'SECRET-TEXT');
    await chmod(join(folder, 'wrong.pem'), 0o600);
    const wrong = await weft('pack', 'sign', 'hello.tgz', '--key', 'wrong.pem', '--kid', 'a', '--json');

    expect(exposed).toMatchObject({ code: 4, json: { error: 'signing_key_exposed' } });
    expect(wrong).toMatchObject({ code: 3, json: { error: 'keychain_invalid' } });
    expect(wrong.err).not.toContain('SECRET-TEXT');
  });

  it('overwrites nothing when it starts a pack', async () => {
    await write('pack.json', '{}');

    const refused = await weft('pack', 'init', 'vendor.acme.payments', '--json');
    const misnamed = await weft('pack', 'init', 'payments', 'p', '--json');

    expect(refused).toMatchObject({ code: 3, json: { error: 'file_unwritable' } });
    expect(misnamed).toMatchObject({ code: 2, json: { error: 'invalid_pack_name' } });
    expect(await readFile(join(folder, 'pack.json'), 'utf8')).toBe('{}');
  });
});
