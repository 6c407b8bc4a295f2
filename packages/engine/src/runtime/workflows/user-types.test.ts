import { isHostError, type HostError, type Json, type JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { WorkflowProblem } from '../../host/host.ts';
import { chargeType, objectSchema, registryOn } from '../node-types/testing/known-types.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { alice, startHost, stranger, type TestHost } from '../testing/test-host.ts';

const LAX = { strict: false, dev: false };
const DEV = { strict: false, dev: true };

let at: TestHost;
let types: NodeTypes;

beforeEach(async () => {
  const store = openMemoryStore();
  at = await startHost({ store });
  types = registryOn(store);
});

afterEach(() => at.host.stop(0));

const STATIC = { type: 'static', value: 5 };
const charge = (over: JsonObject = {}): JsonObject => ({
  id: 'charge',
  typeId: 'acme.charge',
  inputs: { amount: STATIC },
  ...over,
});

function workflow(nodes: Json[], over: JsonObject = {}): JsonObject {
  return { id: 'shop', version: '1.0.0', nodes, ...over };
}

async function problems(definition: JsonObject): Promise<readonly WorkflowProblem[]> {
  return (await at.host.workflows.check(definition, 'default')).errors;
}

async function refusal(definition: JsonObject): Promise<HostError> {
  const error: unknown = await at.host.workflows.register(alice, definition, LAX).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isHostError(error)) return error;
  throw new Error('it was registered', { cause: error });
}

async function pinOf(version?: string): Promise<unknown> {
  const definition = await at.host.workflows.get(alice, 'shop', version);
  return definition?.nodes[0]?.settings?.typeVersion;
}

describe('a definition that uses node types of users', () => {
  it('is registered with the newest version, in full form (N-4)', async () => {
    await types.register(alice, [chargeType(), chargeType({ version: '1.2.0' })], { dev: false });

    const registered = await at.host.workflows.register(alice, workflow([charge()]), LAX);

    expect(registered.created).toBe(true);
    expect(await at.host.workflows.get(alice, 'shop')).toMatchObject({
      name: 'shop',
      edges: [],
      nodes: [{ name: 'charge', settings: { typeVersion: '1.2.0' } }],
    });
    const again = await at.host.workflows.get(alice, 'shop');
    expect(await at.host.workflows.register(alice, again, LAX)).toMatchObject({
      created: false,
      digest: registered.digest,
    });
  });

  it('may name the version, and keeps its other settings', async () => {
    await types.register(alice, [chargeType(), chargeType({ version: '2.0.0' })], { dev: false });
    const settings = { typeVersion: '1.0.0', timeoutMs: 5 };

    await at.host.workflows.register(alice, workflow([charge({ settings })]), LAX);

    expect((await at.host.workflows.get(alice, 'shop'))?.nodes[0]?.settings).toEqual(settings);
  });

  it('keeps its versions when the same source is registered again, but for development (N-4)', async () => {
    await types.register(alice, [chargeType()], { dev: false });
    const first = await at.host.workflows.register(alice, workflow([charge()]), LAX);
    await types.register(alice, [chargeType({ version: '1.1.0' })], { dev: false });

    const again = await at.host.workflows.register(alice, workflow([charge()]), LAX);
    expect(again).toMatchObject({ created: false, digest: first.digest, version: '1.0.0' });
    expect(await pinOf()).toBe('1.0.0');

    const dev = await at.host.workflows.register(alice, workflow([charge()]), DEV);
    expect(dev).toMatchObject({ created: true, version: `1.0.0+${dev.digest.slice(0, 8)}` });
    expect(await pinOf()).toBe('1.1.0');
    expect(await pinOf('1.0.0')).toBe('1.0.0');
    expect(await at.host.workflows.register(alice, workflow([charge()]), DEV)).toMatchObject({
      created: false,
      version: dev.version,
    });

    const raised = workflow([charge()], { version: '1.0.1' });
    await at.host.workflows.register(alice, raised, LAX);
    expect(await pinOf('1.0.1')).toBe('1.1.0');
  });

  it('with other content under its version is refused as ever', async () => {
    await types.register(alice, [chargeType()], { dev: false });
    await at.host.workflows.register(alice, workflow([charge()]), LAX);

    const other = workflow([charge({ notes: 'changed' })]);
    expect((await refusal(other)).code).toBe('workflow_version_exists');
  });

  it('gets the versions that it would use', async () => {
    await types.register(alice, [chargeType(), chargeType({ version: '1.2.0' })], { dev: false });
    const both = workflow([
      { id: 'a', typeId: 'core.noop' },
      charge({ id: 'b' }),
      charge({ id: 'c', settings: { typeVersion: '1.0.0' } }),
    ]);

    const { errors, pinned } = await at.host.workflows.check(both, 'default');

    expect(errors).toEqual([]);
    expect(pinned).toEqual([
      { path: '/nodes/1', typeId: 'acme.charge', version: '1.2.0' },
      { path: '/nodes/2', typeId: 'acme.charge', version: '1.0.0' },
    ]);
  });

  it('is refused by name when the type is unknown, and says what is known', async () => {
    const unknown = await refusal(workflow([charge()]));
    expect(unknown).toMatchObject({ code: 'validation_error' });
    expect(unknown.message).toContain(
      'This host has no node type "acme.charge"; no worker has served it yet.',
    );
    expect(unknown.details).toMatchObject({
      problems: [{ path: '/nodes/0/typeId', code: 'unknown_node_type', details: { typeId: 'acme.charge' } }],
    });

    await types.register(alice, [chargeType(), chargeType({ version: '1.1.0' })], { dev: false });
    const version = await refusal(workflow([charge({ settings: { typeVersion: '3.0.0' } })]));
    expect(version.message).toContain(
      'Node type "acme.charge" is not known in version "3.0.0"; it is known in 1.0.0, 1.1.0.',
    );
    expect(version.details).toMatchObject({ field: '/nodes/0/settings/typeVersion' });
    expect((await refusal(workflow([charge({ typeId: 'acme.chrge' })]))).message).toContain(
      'did you mean "acme.charge"?',
    );
  });

  it('does not know the types of another tenant', async () => {
    await types.register(stranger, [chargeType()], { dev: false });

    expect((await refusal(workflow([charge()]))).message).toContain('no node type "acme.charge"');
  });

  it('is compiled for each tenant with its own types, though the digests are equal', async () => {
    await types.register(alice, [chargeType()], { dev: false });
    await types.register(
      stranger,
      [chargeType({ inputs: objectSchema({ amount: {}, extra: {} }), secrets: ['stripe'] })],
      { dev: false },
    );
    const mine = await at.host.workflows.register(alice, workflow([charge()]), LAX);
    const theirs = await at.host.workflows.register(stranger, workflow([charge()]), LAX);
    expect(theirs.digest).toBe(mine.digest);

    const extra = workflow([charge({ inputs: { amount: STATIC, extra: STATIC } })], { version: '2' });
    expect((await refusal(extra)).message).toContain('has no input "extra"');
    await at.host.workflows.register(stranger, extra, LAX);
  });

  it('has versions of its own types alone', async () => {
    const [problem] = await problems(
      workflow([{ id: 'a', typeId: 'core.noop', settings: { typeVersion: '1.0.0' } }]),
    );

    expect(problem).toMatchObject({ path: '/nodes/0/settings/typeVersion', code: 'type_version' });
  });

  it('has the config that its types ask for', async () => {
    const closed = objectSchema({ currency: { type: 'string', maxLength: 3 } }, 'currency');
    await types.register(alice, [chargeType({ config: closed })], { dev: false });

    const messages = async (config: JsonObject): Promise<string[]> =>
      (await problems(workflow([charge({ config })]))).map(({ path, message }) => `${path}: ${message}`);
    expect(await messages({ currency: 'EUR' })).toEqual([]);
    expect(await messages({ currency: 'EURO' })).toEqual([
      expect.stringContaining('/nodes/0/config/currency: '),
    ]);
    expect(await messages({ currency: 'EUR', curency: 'x' })).toEqual([expect.stringContaining('curency')]);
    expect(await messages({})).toEqual([expect.stringContaining('currency')]);
  });

  it('is refused where holding its config against the schema of a user costs too much', async () => {
    const branch = { type: 'string' };
    const items = { anyOf: [...Array.from({ length: 1_500 }, () => branch), { type: 'number' }] };
    const config = objectSchema({ list: { type: 'array', items } });
    await types.register(alice, [chargeType({ config })], { dev: false });

    const [problem] = await problems(
      workflow([charge({ config: { list: Array.from({ length: 9_000 }, () => 1) } })]),
    );

    expect(problem).toMatchObject({ path: '/nodes/0/config', code: 'schema_too_large' });
  });

  it('uses ports that its types have', async () => {
    await types.register(
      alice,
      [chargeType(), chargeType({ typeId: 'acme.ship', inputs: objectSchema({ chargeId: {} }, 'chargeId') })],
      { dev: false },
    );
    const ship = (inputs: JsonObject = {}): JsonObject => ({ id: 'ship', typeId: 'acme.ship', inputs });
    const edge = (over: JsonObject): JsonObject => ({
      id: 'e',
      sourceNodeId: 'charge',
      targetNodeId: 'ship',
      ...over,
    });
    const found = async (nodes: Json[], ...edges: Json[]): Promise<[string, string][]> =>
      (await problems(workflow(nodes, { edges }))).map(({ path, message }) => [path, message]);
    const connection = (outputKey: string): JsonObject => ({
      chargeId: { type: 'connection', nodeId: 'charge', outputKey },
    });

    const right = edge({ sourceOutput: 'chargeId', targetInput: 'chargeId' });
    expect(await found([charge(), ship()], right)).toEqual([]);
    expect(await found([charge(), ship(connection('chargeId'))], edge({}))).toEqual([]);
    expect(await found([charge({ inputs: { amount: STATIC, amont: STATIC } })])).toEqual([
      ['/nodes/0/inputs/amont', expect.stringContaining('did you mean "amount"?')],
    ]);
    expect(await found([charge(), ship(connection('chargeID'))], edge({}))).toEqual([
      ['/nodes/1/inputs/chargeId/outputKey', expect.stringContaining('did you mean "chargeId"?')],
    ]);
    expect(await found([charge(), ship()], { ...right, targetInput: 'charge' })).toEqual([
      ['/edges/0/targetInput', expect.stringContaining('Edge "e" leads to node "ship"')],
      ['/nodes/1/inputs', expect.stringContaining('needs a value for input "chargeId"')],
    ]);
    expect(await found([charge(), ship()], { ...right, sourceOutput: 'charge' })).toEqual([
      ['/edges/0/sourceOutput', expect.stringContaining('by port "charge"')],
    ]);
    expect(await found([charge({ inputs: {} })])).toEqual([
      ['/nodes/0/inputs', expect.stringContaining('needs a value for input "amount"')],
    ]);
  });

  it('gives the first node of a loop its item', async () => {
    await types.register(alice, [chargeType({ inputs: objectSchema({ item: {} }, 'item') })], { dev: false });
    const loop = {
      id: 'loop',
      typeId: 'core.loop',
      config: { items: '[1, 2]', body: ['charge'], maxIterations: 5 },
    };

    expect(await problems(workflow([loop, charge({ inputs: {} })]))).toEqual([]);
  });
});

describe('short forms of definitions', () => {
  it('are registered in full, and are what the full form is', async () => {
    const short = {
      $schema: './x.json',
      id: 'tiny',
      version: '1',
      nodes: [{ id: 'a', typeId: 'core.noop' }],
    };

    const first = await at.host.workflows.register(alice, short, LAX);
    const full = await at.host.workflows.get(alice, 'tiny');

    expect(full).not.toHaveProperty('$schema');
    expect(full).toMatchObject({ name: 'tiny', metadata: {}, nodes: [{ position: { x: 0, y: 0 } }] });
    expect(await at.host.workflows.register(alice, full, LAX)).toMatchObject({
      created: false,
      digest: first.digest,
    });
  });

  it('that lack what cannot be guessed are refused for that alone', async () => {
    expect(await problems({ nodes: [{ typeId: 'core.noop' }] })).toMatchObject([
      { path: '', message: expect.stringContaining('"id"') as unknown },
      { path: '', message: expect.stringContaining('"version"') as unknown },
      { path: '/nodes/0', message: expect.stringContaining('"id"') as unknown },
    ]);
    expect(
      await problems({ id: 'a', version: '1', nodes: [{ id: 'a', typeId: 'core.noop' }], $schema: 7 }),
    ).toMatchObject([{ message: expect.stringContaining('$schema') as unknown }]);
  });
});
