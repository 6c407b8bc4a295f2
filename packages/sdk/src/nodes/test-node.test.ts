import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineNode, NodeError, testNode, Type } from './index.ts';
import { stopError } from './node-error.ts';

const greet = defineNode({
  typeId: 'acme.greet',
  version: '1.0.0',
  config: Type.Object({ word: Type.String() }, { additionalProperties: false }),
  inputs: { name: Type.String({ minLength: 1 }), times: Type.Optional(Type.Integer()) },
  outputs: { text: Type.String() },
  secrets: ['token'],
  run({ inputs, config, secrets, emit, log, heartbeat, attempt }) {
    emit(config.word);
    emit('!');
    heartbeat({ done: 1 });
    log('info', 'greeted', { attempt });
    return { text: `${config.word} ${inputs.name} ${secrets.token.length}` };
  },
});

const given = { inputs: { name: 'Ada' }, config: { word: 'Hello' }, secrets: { token: 'abc' } };

/** A node without config that returns these outputs. */
function returning(outputs: unknown) {
  return defineNode({
    typeId: 'acme.returning',
    version: '1.0.0',
    inputs: {},
    outputs: { list: Type.Array(Type.Number()) },
    run: () => outputs as { list: number[] },
  });
}

describe('a node in a unit test', () => {
  it('gives its outputs, its text, its logs and its progress', async () => {
    const tested = await testNode(greet, { ...given, attempt: 2 });

    expect(tested).toEqual({
      outputs: { text: 'Hello Ada 3' },
      text: 'Hello!',
      logs: [{ level: 'info', message: 'greeted', fields: { attempt: 2 } }],
      progress: [{ done: 1 }],
    });
    expectTypeOf(tested.outputs).toEqualTypeOf<{ text: string } | undefined>();
  });

  it('is refused inputs and config that its schemas do not admit, with the field', async () => {
    const inputs = await testNode(greet, { ...given, inputs: { name: '', times: 1.5 } });
    // @ts-expect-error the compiler says so, too
    const unknown = await testNode(greet, { ...given, inputs: { nmae: 'Ada' } });
    // @ts-expect-error the compiler says so, too
    const config = await testNode(greet, { ...given, config: {} });

    expect(inputs.error?.code).toBe('validation_error');
    expect(inputs.error?.message).toMatch(/inputs\.name must .*; inputs\.times must be integer/);
    expect(unknown.error?.message).toBe('inputs.name is missing; inputs.nmae is not declared.');
    expect(config.error).toMatchObject({ code: 'validation_error', message: 'config.word is missing.' });
  });

  it('fails without a value for a secret that it declares', async () => {
    const { error } = await testNode(greet, { inputs: given.inputs, config: given.config });

    expect(error).toMatchObject({
      code: 'credential_unavailable',
      message: expect.stringContaining('secrets.token'),
    });
  });

  it.each([
    [{ list: [1, 'two'] }, 'outputs.list[1] must be number.'],
    [{ list: [1], extra: 1 }, 'outputs.extra is not declared.'],
    [{ list: [Number.NaN] }, 'outputs.list[0] is NaN, which JSON cannot hold.'],
    [{ list: new Map() }, 'outputs.list is a value of Map, which JSON cannot hold.'],
    [{ list: [1n] }, 'outputs.list[0] is a bigint, which JSON cannot hold.'],
    [{ list: [undefined] }, 'outputs.list[0] is undefined; JSON has null for that.'],
    [{ list: new Date(0) }, 'outputs.list is a value of Date, which JSON cannot hold.'],
    [undefined, 'outputs must be an object of values by name, not undefined.'],
  ])('fails when it returns %o', async (outputs, message) => {
    const { error } = await testNode(returning(outputs), { inputs: {} });

    expect(error?.code).toBe('output_invalid');
    expect(error?.message).toContain(message);
  });

  it('fails when what it returns contains itself', async () => {
    const list: unknown[] = [];
    list.push(list);

    const { error } = await testNode(returning({ list }), { inputs: {} });

    expect(error?.message).toContain('nested more than 64 deep, or contains itself');
  });

  it('fails with the code of its NodeError, or as node_failed with the line of its own code', async () => {
    const failing = (thrown: unknown) =>
      testNode(
        defineNode({
          typeId: 'acme.failing',
          version: '1.0.0',
          inputs: {},
          outputs: {},
          run() {
            throw thrown;
          },
        }),
        { inputs: {} },
      );

    const chosen = await failing(
      new NodeError('card_declined', 'No.', { retryable: true, retryAfterMs: 50 }),
    );
    const other = await failing(new RangeError('too far'));

    expect(chosen.error).toMatchObject({ code: 'card_declined', retryable: true, retryAfterMs: 50 });
    expect(other.error).toMatchObject({
      code: 'node_failed',
      message: 'too far',
      details: { name: 'RangeError' },
    });
  });

  it('stops at its next heartbeat when its signal is aborted', async () => {
    const { error } = await testNode(greet, { ...given, signal: AbortSignal.abort(stopError('cancelled')) });

    expect(error).toMatchObject({ code: 'cancelled', retryable: false });
  });
});
