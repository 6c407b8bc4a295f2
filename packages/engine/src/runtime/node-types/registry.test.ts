import { DEFAULT_WORK_LIMITS, type JsonObject, type NodeTypeDocument, WorkBudget } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { limitsFrom, type HostLimits } from '../../host/limits.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { SILENT } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { createCommitter } from '../commits/committer.ts';
import { alice, stranger } from '../testing/test-host.ts';
import { testClock } from '../testing/test-clock.ts';
import type { NodeTypes, ServedTypes } from './node-types.ts';
import { createNodeTypes } from './registry.ts';

const STRICT = { dev: false };
const DEV = { dev: true };
const NONE_SERVED: ServedTypes = { isServed: () => false };

interface Process {
  readonly types: NodeTypes;
  readonly clock: ReturnType<typeof testClock>;
}

/** One process of a host; give two of them one store. */
function startProcess(
  store: Store = openMemoryStore(),
  { limits, served = NONE_SERVED }: { limits?: Partial<HostLimits>; served?: ServedTypes } = {},
): Process {
  const clock = testClock();
  let drawn = 0;
  const types = createNodeTypes({
    store,
    committer: createCommitter({ store, log: SILENT, maxUnits: 100, maxBytes: 1_000_000 }),
    clock,
    random: (bytes) => {
      drawn += 1;
      return new Uint8Array(bytes).fill(drawn % 256).fill(Math.floor(drawn / 256), 0, 1);
    },
    limits: limitsFrom(limits),
    isOwn: (typeId) => typeId === 'operator.own',
    served,
  });
  return { types, clock };
}

function object(properties: JsonObject, ...required: string[]): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function charge(over: Partial<NodeTypeDocument> = {}): NodeTypeDocument {
  return {
    typeId: 'acme.charge',
    version: '1.0.0',
    inputs: object({ amount: { type: 'number' } }, 'amount'),
    outputs: object({ chargeId: { type: 'string' } }),
    ...over,
  };
}

const OTHER = object({ amount: { type: 'string' } });

async function versionsOf({ types }: Process, tenant = 'default'): Promise<string[]> {
  return (await types.list(tenant)).map(({ typeId, version }) => `${typeId}@${version}`);
}

describe('node types of users', () => {
  it('are known after registration, also to another process and after a restart (N-2)', async () => {
    const store = openMemoryStore();
    const first = startProcess(store);
    const second = startProcess(store);
    expect(await versionsOf(second)).toEqual([]);

    const [registered] = await first.types.register(alice, [charge()], STRICT);

    expect(registered).toMatchObject({
      typeId: 'acme.charge',
      version: '1.0.0',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(await second.types.find('default', 'acme.charge')).toEqual(registered);
    expect(await startProcess(store).types.find('default', 'acme.charge', '1.0.0')).toEqual(registered);
  });

  it('belong to their tenant', async () => {
    const at = startProcess();
    await at.types.register(alice, [charge()], STRICT);

    await at.types.register(stranger, [charge({ inputs: OTHER })], STRICT);

    expect((await at.types.find('default', 'acme.charge'))?.inputs).toEqual(charge().inputs);
    expect((await at.types.find('other', 'acme.charge'))?.inputs).toEqual(OTHER);
    expect(await versionsOf(at, 'third')).toEqual([]);
  });

  it('keep the schemas of a version for ever (N-1)', async () => {
    const at = startProcess();
    const [first] = await at.types.register(alice, [charge()], STRICT);

    await expect(at.types.register(alice, [charge({ inputs: OTHER })], STRICT)).rejects.toMatchObject({
      code: 'node_type_conflict',
      message: expect.stringMatching(/"acme.charge" version "1.0.0".*Raise its version/) as unknown,
      details: { typeId: 'acme.charge', version: '1.0.0' },
    });
    const [again] = await at.types.register(alice, [charge({ title: 'Another title' })], STRICT);
    expect(again).toEqual(first);
    expect(await versionsOf(at)).toEqual(['acme.charge@1.0.0']);
  });

  it('have a digest of what they take and give, and of nothing else', async () => {
    const digests = await Promise.all(
      [
        charge(),
        charge({ title: 'Charge', summary: 'A card', timeoutMs: 5, secrets: [] }),
        charge({
          inputs: { required: ['amount'], properties: { amount: { type: 'number' } }, type: 'object' },
        }),
        charge({ secrets: ['a', 'b'] }),
        charge({ secrets: ['b', 'a'] }),
        charge({ config: object({}) }),
      ].map(async (type) => (await startProcess().types.register(alice, [type], STRICT))[0]?.digest),
    );

    const [plain, described, reordered, secrets, otherOrder, config] = digests;
    expect(described).toBe(plain);
    expect(reordered).toBe(plain);
    expect(otherOrder).toBe(secrets);
    expect(new Set([plain, secrets, config]).size).toBe(3);
  });

  it('are registered all or none (N-3)', async () => {
    const at = startProcess();
    await at.types.register(alice, [charge()], STRICT);

    const both = [charge({ typeId: 'acme.ship' }), charge({ inputs: OTHER })];
    await expect(at.types.register(alice, both, STRICT)).rejects.toMatchObject({
      code: 'node_type_conflict',
    });

    expect(await versionsOf(at)).toEqual(['acme.charge@1.0.0']);
  });

  it('of two processes that register other schemas at once, one is refused whole (N-1, N-3)', async () => {
    const store = openMemoryStore();
    const processes = [startProcess(store), startProcess(store)];
    for (const { types } of processes) await types.list('default');

    const outcomes = await Promise.allSettled(
      processes.map(({ types }, index) =>
        types.register(
          alice,
          [charge({ typeId: `acme.only-${index}` }), charge(index === 0 ? {} : { inputs: OTHER })],
          STRICT,
        ),
      ),
    );

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
    for (const process of processes)
      expect(await versionsOf(process)).toEqual(['acme.charge@1.0.0', `acme.only-${winner}@1.0.0`]);
  });

  it('of many processes that register at once, all succeed when they agree', async () => {
    const store = openMemoryStore();
    const processes = Array.from({ length: 8 }, () => startProcess(store));

    await Promise.all(
      processes.map(({ types }, index) =>
        types.register(alice, [charge(), charge({ typeId: `acme.t${index}` })], STRICT),
      ),
    );

    expect(await versionsOf(startProcess(store))).toHaveLength(9);
  });

  it('get a version of their own in development when the schemas differ', async () => {
    const at = startProcess();
    const [first] = await at.types.register(alice, [charge()], DEV);

    const [changed] = await at.types.register(alice, [charge({ inputs: OTHER })], DEV);
    const [again] = await at.types.register(alice, [charge({ inputs: OTHER })], DEV);
    const [back] = await at.types.register(alice, [charge()], DEV);

    expect(first?.version).toBe('1.0.0');
    expect(changed?.version).toBe(`1.0.0+${changed?.digest.slice(0, 8)}`);
    expect(again).toEqual(changed);
    expect(back).toEqual(first);
    expect(await versionsOf(at)).toHaveLength(2);
  });

  it('are found by their newest version, the one that is served before others', async () => {
    const servedVersions = new Set<string>();
    const served = { isServed: (_: string, __: string, version: string) => servedVersions.has(version) };
    const at = startProcess(undefined, { served });
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1'])
      await at.types.register(alice, [charge({ version })], STRICT);
    const newest = async (): Promise<string | undefined> =>
      (await at.types.find('default', 'acme.charge'))?.version;

    expect(await newest()).toBe('2.0.0-rc.1');
    servedVersions.add('1.0.0').add('1.9.0');
    expect(await newest()).toBe('1.9.0');
    expect((await at.types.find('default', 'acme.charge', '1.10.0'))?.version).toBe('1.10.0');
    expect(await at.types.find('default', 'acme.charge', '3.0.0')).toBeUndefined();
    expect(await at.types.find('default', 'acme.chargo')).toBeUndefined();
  });

  it('of versions that differ behind the plus sign alone, the newest was registered last', async () => {
    const at = startProcess();
    for (const type of ['string', 'boolean', 'number'])
      await at.types.register(alice, [charge({ inputs: object({ amount: { type } }) })], DEV);

    const inputs = (await at.types.list('default', 'acme.charge')).map((type) => type.inputs);
    expect(inputs).toEqual(['string', 'boolean', 'number'].map((type) => object({ amount: { type } })));
  });

  it('may not take names of the host, and not twice the same', async () => {
    const at = startProcess();
    for (const typeId of ['core.x', 'openwop.x', 'weft.x', 'conformance.x', 'operator.own'])
      await expect(
        at.types.register(alice, [charge(), charge({ typeId })], STRICT),
        typeId,
      ).rejects.toMatchObject({
        code: 'validation_error',
        message: expect.stringContaining(typeId) as unknown,
        details: { field: 'types.1.typeId', path: '/types/1/typeId' },
      });
    await expect(at.types.register(alice, [charge(), charge()], STRICT)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(/"acme.charge" version "1.0.0" is defined twice/) as unknown,
    });
    await expect(
      at.types.register(alice, [charge(), charge({ version: '1.0.1' })], STRICT),
    ).resolves.toHaveLength(2);
  });

  it('are bounded in number and bytes for each tenant', async () => {
    const at = startProcess(undefined, { limits: { maxNodeTypes: 2 } });
    await at.types.register(alice, [charge(), charge({ version: '1.0.1' })], STRICT);
    await expect(at.types.register(alice, [charge({ version: '1.0.2' })], STRICT)).rejects.toMatchObject({
      code: 'conflict',
      details: { limit: 2, observed: 3 },
    });
    await at.types.register(stranger, [charge({ version: '1.0.2' })], STRICT);

    const small = startProcess(undefined, { limits: { maxNodeTypeBytes: 100 } });
    await expect(small.types.register(alice, [charge()], STRICT)).rejects.toMatchObject({
      code: 'conflict',
      details: { limit: 100 },
    });
  });

  it('tell those who watch, also of what another process registered', async () => {
    const store = openMemoryStore();
    const here = startProcess(store);
    const elsewhere = startProcess(store);
    await elsewhere.types.list('default');
    const heard: string[] = [];
    here.types.watch((tenant) => heard.push(`here ${tenant}`));
    const stop = elsewhere.types.watch((tenant) => heard.push(`elsewhere ${tenant}`));

    await here.types.register(alice, [charge()], STRICT);
    await elsewhere.types.list('default');
    stop();
    await here.types.register(alice, [charge({ version: '1.0.1' })], STRICT);
    await elsewhere.types.list('default');

    expect(heard).toEqual(['here default', 'elsewhere default', 'here default']);
  });
});

/** Nested so deep that no schema may be. */
function deep(levels: number): JsonObject {
  return levels === 0 ? {} : { not: deep(levels - 1) };
}

const HOSTILE: readonly [name: string, schema: JsonObject, path: string, words: RegExp][] = [
  ['no object', { type: 'string' }, '/type', /must be "object"/],
  ['no type', { properties: {} }, '/type', /must be "object"/],
  [
    'another dialect',
    { ...object({}), $schema: 'http://json-schema.org/draft-07/schema#' },
    '/$schema',
    /2020-12/,
  ],
  [
    'a remote reference',
    object({ a: { $ref: 'https://evil.example/s.json' } }),
    '/properties/a/$ref',
    /JSON Pointer into the same schema/,
  ],
  ['a reference to nothing', object({ a: { $ref: '#/$defs/x' } }), '/properties/a/$ref', /leads nowhere/],
  [
    'a reference to itself',
    { ...object({ a: { $ref: '#/$defs/x' } }), $defs: { x: { items: { $ref: '#/$defs/x' } } } },
    '',
    /leads back to itself/,
  ],
  [
    'a keyword of the wrong kind',
    object({ a: { minLength: 'many' } }),
    '/properties/a/minLength',
    /minLength/,
  ],
  ['too many bytes', object({ a: { const: 'x'.repeat(70_000) } }), '', /at most 65536/],
  ['too many levels', object({ a: deep(40) }), `/properties/a${'/not'.repeat(31)}`, /levels/],
  [
    'references that multiply',
    {
      ...object({ a: { $ref: '#/$defs/d12' } }),
      $defs: Object.fromEntries(
        Array.from({ length: 13 }, (_, at) => [
          `d${at}`,
          at === 0 ? {} : { allOf: [{ $ref: `#/$defs/d${at - 1}` }, { $ref: `#/$defs/d${at - 1}` }] },
        ]),
      ),
    },
    '',
    /at most 4000/,
  ],
  [
    'a pattern that costs too much',
    object({ a: { pattern: `(${'a'.repeat(500)}){1000}` } }),
    '/properties/a/pattern',
    /pattern/,
  ],
];

describe('schemas of node types', () => {
  it.each(HOSTILE)(
    'with %s are refused with their place, and nothing is kept',
    async (_, schema, path, words) => {
      const at = startProcess();
      for (const member of ['config', 'inputs', 'outputs'] as const) {
        await expect(
          at.types.register(alice, [charge(), charge({ typeId: 'acme.bad', [member]: schema })], STRICT),
        ).rejects.toMatchObject({
          code: 'validation_error',
          message: expect.stringMatching(words) as unknown,
          details: { path: `/types/1/${member}${path}`, typeId: 'acme.bad' },
        });
      }
      expect(await versionsOf(at)).toEqual([]);
    },
  );

  it('name ports that can be named', async () => {
    for (const name of ['', 'a\u0000b', 'x'.repeat(129)])
      await expect(
        startProcess().types.register(alice, [charge({ outputs: object({ [name]: {} }) })], STRICT),
      ).rejects.toMatchObject({ code: 'validation_error', details: { path: '/types/0/outputs/properties' } });
  });

  it('let in what they name, and what they say themselves', async () => {
    const problemsOf = async (config: JsonObject | undefined, value: JsonObject): Promise<string[]> => {
      const { types } = startProcess();
      const [type] = await types.register(alice, [{ ...charge(), ...(config && { config }) }], STRICT);
      if (type === undefined) throw new Error('not registered');
      const check = types.asNodeType(type).checkConfig;
      return (check?.(value, new WorkBudget(DEFAULT_WORK_LIMITS)) ?? []).map(
        ({ path, message }) => `${path} ${message}`,
      );
    };
    const currency = object({ currency: { type: 'string' } }, 'currency');

    expect(await problemsOf(currency, { currency: 'EUR' })).toEqual([]);
    expect(await problemsOf(currency, { currency: 'EUR', curency: 1 })).toEqual([
      expect.stringContaining('curency'),
    ]);
    expect(await problemsOf(currency, {})).toEqual([expect.stringContaining('currency')]);
    expect(await problemsOf({ ...currency, additionalProperties: true }, { currency: 'EUR', x: 1 })).toEqual(
      [],
    );
    expect(await problemsOf({ type: 'object', allOf: [currency] }, { currency: 'EUR', x: 1 })).toEqual([
      expect.stringContaining('x'),
    ]);
    expect(await problemsOf(undefined, { x: 1 })).toEqual([expect.stringContaining('x')]);
  });
});

describe('a mapping of versions', () => {
  it('has another version perform the tasks, here at once and elsewhere soon', async () => {
    const store = openMemoryStore();
    const here = startProcess(store);
    const elsewhere = startProcess(store);
    for (const version of ['1.0.0', '2.0.0', '3.0.0'])
      await here.types.register(alice, [charge({ version })], STRICT);
    const resolved = ({ types }: Process): Promise<string> =>
      types.resolveServed('default', 'acme.charge', '1.0.0');
    expect(await resolved(elsewhere)).toBe('1.0.0');

    await here.types.map(alice, 'acme.charge', '1.0.0', '2.0.0');
    expect(await resolved(here)).toBe('2.0.0');
    await here.types.map(alice, 'acme.charge', '2.0.0', '3.0.0');
    expect(await resolved(here)).toBe('3.0.0');
    elsewhere.clock.advance(1_000);
    expect(await resolved(elsewhere)).toBe('3.0.0');
    expect(await here.types.resolveServed('other', 'acme.charge', '1.0.0')).toBe('1.0.0');

    await here.types.map(alice, 'acme.charge', '1.0.0');
    expect(await resolved(here)).toBe('1.0.0');
  });

  it('is refused for what is not known, and where it would lead back', async () => {
    const { types } = startProcess();
    for (const version of ['1.0.0', '2.0.0']) await types.register(alice, [charge({ version })], STRICT);

    await expect(types.map(alice, 'acme.ship', '1.0.0', '2.0.0')).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(types.map(stranger, 'acme.charge', '1.0.0', '2.0.0')).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(types.map(alice, 'acme.charge', '1.0.0', '4.0.0')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/has no version "4.0.0"; it has 1.0.0, 2.0.0/) as unknown,
    });
    await types.map(alice, 'acme.charge', '1.0.0', '2.0.0');
    for (const [from, to] of [
      ['2.0.0', '1.0.0'],
      ['2.0.0', '2.0.0'],
    ] as const)
      await expect(types.map(alice, 'acme.charge', from, to)).rejects.toMatchObject({
        code: 'validation_error',
        details: { field: 'to' },
      });
    expect(await types.resolveServed('default', 'acme.charge', '1.0.0')).toBe('2.0.0');
  });
});
