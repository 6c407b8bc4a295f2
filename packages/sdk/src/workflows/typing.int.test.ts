import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What the compiler says of programs that use the builder; a line that is wrong ends with "// wrong". */

const SDK = fileURLToPath(new URL('index.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** As `defineNode` gives them. */
const NODES = `
import { defineWorkflow } from ${JSON.stringify(SDK)};
declare const charge: {
  readonly typeId: 'acme.charge';
  readonly version: string;
  run(context: { readonly inputs: { amount: number; customer?: string }; readonly config: { currency: string } }):
    Promise<{ chargeId: string }>;
};
declare const ship: {
  readonly typeId: 'acme.ship';
  readonly version: string;
  run(context: { readonly inputs: { chargeId: string }; readonly config: object }): { parcel: string };
};
const head = { id: 'order', version: '1.0.0', variables: { amount: { type: 'number' }, who: { type: 'string' } } } as const;
`;

const GOOD = `
export default defineWorkflow(head, (w) => {
  const paid = w.node('charge', charge, { config: { currency: 'EUR' }, inputs: { amount: w.variable('amount') } });
  const sent = w.node('ship', ship, { inputs: { chargeId: paid.out.chargeId } });
  const choice = w.node('choice', 'core.conditional', { config: { condition: 'true' }, inputs: { input: sent.out.parcel } });
  const wait = w.node('wait', 'core.delay', { config: { ms: 5 } });
  w.edge(choice.out.true, wait, { when: 'variables.amount > 1' });
  w.edge(sent, wait);
  const python = w.node('py', { typeId: 'acme.py' }, { inputs: { any: 'thing', from: paid.out.chargeId } });
  w.node('again', charge, { config: { currency: 'EUR' }, inputs: { amount: python.output('sum'), customer: w.variable('who') } });
  w.loop('each', { items: '[1, 2]', maxIterations: 2 }, () => {
    w.node('inner', charge, { config: { currency: 'EUR' }, inputs: { amount: w.item<number>() } });
  });
  w.node('stop', 'core.noop');
});
`;

const BAD: Readonly<Record<string, string>> = {
  'an unknown type of the host': `w.node('a', 'core.dealy'); // wrong`,
  'an unknown input': `
    w.node('a', charge, { config: { currency: 'EUR' }, inputs: {
      amount: 1,
      amont: 1, // wrong
    } });`,
  'a missing input': `w.node('a', ship, { inputs: {} }); // wrong`,
  'no inputs at all': `w.node('a', ship); // wrong`,
  'a value of another type': `
    w.node('a', ship, { inputs: {
      chargeId: 7, // wrong
    } });`,
  'an unknown output': `
    const paid = w.node('a', charge, { config: { currency: 'EUR' }, inputs: { amount: 1 } });
    w.node('b', ship, { inputs: { chargeId: paid.out.chargeID } }); // wrong`,
  'an output of another type': `
    const paid = w.node('a', charge, { config: { currency: 'EUR' }, inputs: { amount: 1 } });
    w.node('b', charge, { config: { currency: 'EUR' }, inputs: {
      amount: paid.out.chargeId, // wrong
    } });`,
  'a variable of another type': `
    w.node('a', ship, { inputs: {
      chargeId: w.variable('amount'), // wrong
    } });`,
  'an unknown variable': `w.variable('amuont'); // wrong`,
  'a config of another type': `
    w.node('a', charge, { inputs: { amount: 1 }, config: {
      currency: 978, // wrong
    } });`,
  'a missing config': `w.node('a', charge, { inputs: { amount: 1 } }); // wrong`,
  'an unknown config key of the host': `
    w.node('a', 'core.delay', { config: {
      millis: 5, // wrong
    } });`,
  'an unknown output of the host': `
    const wait = w.node('a', 'core.delay', { config: { ms: 5 } });
    w.edge(wait.out.done, wait); // wrong`,
  'an unknown setting': `
    w.node('a', 'core.noop', { settings: {
      retires: 3, // wrong
    } });`,
};

const OPTIONS = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    customConditions: ['@weft/source'],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['*.mts'],
};

const files = new Map(Object.keys(BAD).map((name, index) => [name, `bad-${index}.mts`]));
let folder: string;
let errors: readonly { readonly file: string; readonly line: number; readonly text: string }[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-typing-'));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS));
  await writeFile(join(folder, 'good.mts'), NODES + GOOD);
  for (const [name, program] of Object.entries(BAD)) {
    const text = `${NODES}export default defineWorkflow(head, (w) => {\n${program}\n});\n`;
    await writeFile(join(folder, files.get(name) ?? ''), text);
  }
  const output = await new Promise<string>((resolve) => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    execFile(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    );
  });
  errors = [...output.matchAll(/^(\S+?)\((\d+),\d+\): error (.*)$/gm)].map(
    ([, file = '', line, text = '']) => ({
      file,
      line: Number(line),
      text,
    }),
  );
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the compiler', () => {
  it('takes a program that is right', () => {
    expect(errors.filter(({ file }) => file === 'good.mts' || !file.startsWith('bad-'))).toEqual([]);
  });

  it.each([...files])('refuses %s, at its line', (name, file) => {
    const lines = `${NODES}export default defineWorkflow(head, (w) => {\n${BAD[name]}`.split('\n');
    const wrong = lines.findIndex((line) => line.endsWith('// wrong')) + 1;

    expect(errors.filter((error) => error.file === file).map(({ line }) => line)).toContain(wrong);
  });
});
