import type { JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { chain, node, type NodeSpec, variable, type WorkflowSpec } from './definitions.ts';

/**
 * Workflows through which a sensitive input flows in many ways: expressions, variables, channels, edges and connections, loops, effects
 * that repeat what they were given, questions, child runs. Nothing in them branches on the input, and every text of their own is
 * in small letters, so that two runs with different inputs differ in nothing but what was made from it.
 */
export interface Flow {
  readonly spec: WorkflowSpec;
  /** Kinds of nodes in it, for the distribution. */
  readonly kinds: readonly Kind[];
}

const KINDS = [
  'set',
  'get',
  'merge',
  'connect',
  'identity',
  'write',
  'read',
  'delay',
  'loop',
  'effect',
  'ask',
  'child',
] as const;
export type Kind = (typeof KINDS)[number];

/** The child that every `child` node runs. */
export const CHILD: WorkflowSpec = {
  nodes: [
    node('c0'),
    node('c1', 'core.setVariable', {
      name: 'made',
      expression: '"kid " + string(vars.code) + string(vars.other)',
    }),
    node(
      'c2',
      'test.effect',
      { uses: ['given'] },
      { inputs: { given: { type: 'variable', variableName: 'made' } } },
    ),
  ],
  edges: chain('c0', 'c1', 'c2'),
};

interface Draft {
  readonly kind: Kind;
  readonly picks: readonly number[];
}

const draft: fc.Arbitrary<Draft> = fc.record({
  kind: fc.constantFrom(...KINDS),
  picks: fc.array(fc.nat(1_000), { minLength: 6, maxLength: 6 }),
});

export const arbitraryFlow: fc.Arbitrary<Flow> = fc
  .array(draft, { minLength: 2, maxLength: 9 })
  .map((drafts) => build(drafts));

function build(drafts: readonly Draft[]): Flow {
  const nodes: NodeSpec[] = [node('n0')];
  const variables = ['pin', 'pub'];
  const outputs: { id: string; port: string }[] = [];
  const inBody: NodeSpec[] = [];
  for (const [index, { kind, picks }] of drafts.entries()) {
    const id = `n${index + 1}`;
    const from = source(id, variables, outputs, picks);
    const { own, body } = nodeOf(
      kind,
      id,
      from,
      outputs[(picks[3] ?? 0) % Math.max(outputs.length, 1)],
      picks,
    );
    nodes.push(own);
    if (body !== undefined) inBody.push(body);
    const name = SETS[kind]?.(id);
    if (name !== undefined) variables.push(name);
    outputs.push({ id, port: PORTS[kind] ?? 'output' });
  }
  return {
    kinds: drafts.map(({ kind }) => kind),
    spec: {
      nodes: [...nodes, ...inBody],
      edges: chain(...nodes.map(({ id }) => id)),
      variables: [variable('pin', { sensitive: true }), variable('pub')],
      channels: { many: { reducer: 'append' }, one: { reducer: 'replace' } },
    },
  };
}

const SETS: Partial<Record<Kind, (id: string) => string>> = {
  set: (id) => `v${id}`,
  child: (id) => `v${id}`,
};
const PORTS: Partial<Record<Kind, string>> = {
  connect: 'x',
  effect: 'said',
  merge: 'x',
  ask: 'comment',
  child: 'childStatus',
};

/** A CEL expression that gives a text, in words of its own: what equals something sensitive by chance is masked as well. */
function source(
  id: string,
  variables: readonly string[],
  outputs: readonly { id: string; port: string }[],
  picks: readonly number[],
): string {
  const atom = (pick: number): string => {
    if (pick % 3 === 0 && outputs.length > 0) {
      const read = outputs[pick % outputs.length];
      const output = `nodes.${read?.id}.${read?.port}`;
      const first = `(size(${output}) > 0 && type(${output}[0]) == string ? ${output}[0] : "empty")`;
      const text = `(type(${output}) == string ? ${output} : type(${output}) == list ? ${first} : "other")`;
      return `(has(${output}) ? string(${text}) : "none")`;
    }
    return `string(vars.${variables[pick % variables.length] ?? 'pub'})`;
  };
  const [a = 0, b = 0, how = 0] = picks;
  const [left, right] = [atom(a), atom(b)];
  // Long enough to be found inside of another text, however short the value is.
  const turned = `(size(${left}) > 1 ? ${left}.substring(1) + ${left}.substring(0, 1) : ${left})`;
  switch (how % 8) {
    case 0:
      return left;
    case 6:
    case 7:
      // Nothing of it is left as it was.
      return `"${id} turns " + ${turned}`;
    case 1:
      return `"<${id} " + ${left} + " and " + ${right} + ">"`;
    case 2:
      return `"${id} begins " + ${left}.substring(0, 1) + ${right}`;
    case 3:
      return `"${id} of length " + string(size(${left}))`;
    case 4:
      return `(${left} == ${right} ? "${id} same" : "${id} other") + ${left}`;
    default:
      return `[${left}, ${right}].map(t, "${id} maps " + t)[1]`;
  }
}

function nodeOf(
  kind: Kind,
  id: string,
  from: string,
  before: { id: string; port: string } | undefined,
  picks: readonly number[],
): { own: NodeSpec; body?: NodeSpec } {
  const [, , , x = 0] = picks;
  const port = (name: string): Partial<NodeSpec> => ({
    inputs: { [name]: { type: 'expression', expression: from } },
  });
  const plain = (typeId: string, config: JsonObject = {}, rest: Partial<NodeSpec> = {}) => ({
    own: node(id, typeId, config, rest),
  });
  switch (kind) {
    case 'set':
      return plain('core.setVariable', { name: `v${id}`, expression: from });
    case 'get':
      return plain('core.getVariable', { name: x % 2 === 0 ? 'pin' : 'pub' });
    case 'merge':
      return plain('core.merge', {}, port('x'));
    case 'connect':
      return plain(
        'core.merge',
        {},
        {
          inputs: {
            x: {
              type: 'connection',
              nodeId: before?.id ?? 'n0',
              outputKey: before?.port ?? 'none',
              optional: true,
            },
          },
        },
      );
    case 'identity':
      return plain('core.identity', {}, port('output'));
    case 'write':
      return plain(
        'core.channelWrite',
        { channelName: ['many', 'one', 'loose'][x % 3] ?? 'one' },
        port('value'),
      );
    case 'read':
      return plain('weft.channel.read', { channelName: x % 2 === 0 ? 'many' : 'one' });
    case 'delay':
      return plain('core.delay', { ms: 0 }, port('input'));
    case 'loop':
      return {
        own: node(id, 'core.loop', { body: [`${id}b`], items: `[${from}, "k"]`, maxIterations: 3 }),
        body: node(`${id}b`, 'core.setVariable', { name: 'inner', expression: 'inputs.item + "?"' }),
      };
    case 'effect':
      return plain('test.effect', { uses: ['given'] }, port('given'));
    case 'ask':
      return plain('core.approvalGate', { title: 'ok?' }, port('artifactData'));
    case 'child':
      return plain('core.subWorkflow', {
        workflowId: 'child',
        inputMapping: { code: x % 2 === 0 ? 'pin' : 'pub', other: 'pub' },
        outputMapping: { [`v${id}`]: 'made' },
      });
  }
}
