import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { compileValidator } from '../validation/validate.ts';
import { WorkflowDefinitionSchema, WorkflowNodeSchema } from './workflow.ts';

const validate = compileValidator(WorkflowDefinitionSchema);

function definition(changes: JsonObject = {}): JsonObject {
  const node = { id: 'a', typeId: 'core.noop', name: 'A', position: { x: 0, y: 0 }, config: {}, inputs: {} };
  return {
    id: 'sample',
    name: 'Sample',
    version: '1.0.0',
    nodes: [node],
    edges: [],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
    ...changes,
  };
}

function withNode(changes: JsonObject): JsonObject {
  const [node] = definition().nodes as JsonObject[];
  return definition({ nodes: [{ ...node, ...changes }] });
}

const EVERY_NODE_FIELD: JsonObject = {
  id: 'write',
  typeId: 'core.channelWrite',
  name: 'Write',
  position: { x: 0, y: 0 },
  config: { channelName: 'notes', reducer: 'append', value: 1 },
  inputs: {
    fixed: { type: 'static', value: [null, true] },
    computed: { type: 'expression', expression: 'variables.city' },
    handed: { type: 'connection', nodeId: 'write', outputKey: 'value', optional: true },
    city: { type: 'variable', variableName: 'city', optional: true },
  },
  credentialsRef: 'mail',
  settings: { timeoutMs: 0, retry: { maxAttempts: 2, never: ['denied'] }, onUnknownOutcome: 'repeat' },
  outputRole: 'primary',
  disabled: false,
  notes: 'Kept for later.',
  groupId: 'all',
  agent: { agentId: 'acme.writer', modelClass: 'chat', memoryRef: 'acme/notes', channel: 'stable' },
  envelopeContract: { kind: 'note' },
  artifactType: 'acme.note',
  cardType: 'acme.card',
  outputSensitivity: { value: true },
};

const EVERYTHING = definition({
  description: 'Every field that a definition can have.',
  type: 'acme.flow',
  isActive: true,
  status: 'draft',
  tenantId: 'acme',
  scopeId: 'team',
  slug: 'everything',
  nodes: [EVERY_NODE_FIELD],
  edges: [
    {
      id: 'again',
      sourceNodeId: 'write',
      sourceOutput: 'value',
      targetNodeId: 'write',
      targetInput: 'handed',
      condition: { type: 'equals', left: 'variables.city', right: 'Braunschweig' },
      label: 'once more',
      triggerRule: 'all_success',
    },
  ],
  triggers: [{ id: 'manual', type: 'manual', name: 'By hand', config: {}, enabled: true }],
  variables: [{ name: 'city', type: 'string', required: true, defaultValue: '', sensitive: true }],
  groups: [
    {
      id: 'all',
      name: 'All',
      color: 'blue',
      collapsed: false,
      nodeIds: ['write'],
      position: { x: 0, y: 0 },
      size: { width: 10, height: 10 },
    },
  ],
  channels: { notes: { reducer: 'append', ttlMs: 1_000, maxSize: 3, access: { writers: ['write'] } } },
  configurableSchema: { type: 'object' },
  defaults: { promptRefs: { system: 'prompt:acme.writer@1.0.0' } },
  metadata: { tags: ['acme'] },
  settings: { timeout: 0, maxRetries: 0, logLevel: 'info', maxLoopbackIterations: 3 },
  acceptsInheritedArtifacts: [{ type: 'acme.note' }],
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
});

describe('a workflow definition', () => {
  it('is accepted in its smallest form', () => {
    expect(validate(definition())).toEqual([]);
  });

  it('is accepted with every field that it can have', () => {
    expect(validate(EVERYTHING)).toEqual([]);
    expect(Object.keys(EVERYTHING).toSorted()).toEqual(
      Object.keys(WorkflowDefinitionSchema.properties).toSorted(),
    );
    expect(Object.keys(EVERY_NODE_FIELD).toSorted()).toEqual(
      Object.keys(WorkflowNodeSchema.properties).toSorted(),
    );
  });

  it('is refused with the place of an unknown field and the field that was meant', () => {
    const [problem] = validate(withNode({ setings: {} }));

    expect(problem).toEqual({
      path: '/nodes/0/setings',
      message: 'unknown field "setings"; did you mean "settings"?',
      keyword: 'additionalProperties',
    });
  });

  it('has closed node settings', () => {
    expect(validate(withNode({ settings: { retry: { maxAttempts: 3 }, onUnknownOutcome: 'fail' } }))).toEqual(
      [],
    );
    expect(validate(withNode({ settings: { retries: 3 } })).map((problem) => problem.path)).toEqual([
      '/nodes/0/settings/retries',
    ]);
  });

  it('reports only the port form that was meant', () => {
    const problems = validate(withNode({ inputs: { a: { type: 'connection', nodeId: 'x' } } }));

    expect(problems).toEqual([
      { path: '/nodes/0/inputs/a', message: 'the field "outputKey" is missing', keyword: 'required' },
    ]);
  });

  it('lists the port forms when the type is none of them', () => {
    const problems = validate(withNode({ inputs: { a: { type: 'literal', value: 1 } } }));

    expect(problems).toEqual([
      {
        path: '/nodes/0/inputs/a/type',
        message: 'must be one of "static", "expression", "connection", "variable"',
        keyword: 'enum',
      },
    ]);
  });

  it.each(['Sample', '1st', '', 'a b'])('refuses the id %j', (id) => {
    expect(validate(definition({ id }))).not.toEqual([]);
  });

  it('keeps metadata and settings open', () => {
    expect(validate(definition({ metadata: { 'acme.owner': 1 }, settings: { 'acme.x': true } }))).toEqual([]);
  });
});

const published = process.env['WEFT_OPENWOP_DATA'];
if (published !== undefined) {
  const files = readdirSync(`${published}/fixtures`).filter((name) => name.endsWith('.json'));

  describe('extra check: the public fixtures', () => {
    it.each(files)('%s is a valid definition', (file) => {
      expect(validate(JSON.parse(readFileSync(`${published}/fixtures/${file}`, 'utf8')))).toEqual([]);
    });
  });
}
