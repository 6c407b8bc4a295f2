import { describe, expect, it } from 'vitest';
import { fullForm } from './full-form.ts';
import { WorkflowDefinitionSchema, WorkflowSourceSchema } from './workflow.ts';
import { compileValidator } from '../validation/validate.ts';

const SHORT = { id: 'tiny', version: '1', nodes: [{ id: 'a', typeId: 'core.noop' }] };

describe('a definition as authors write it', () => {
  it('gets the members that were left out', () => {
    expect(compileValidator(WorkflowSourceSchema)(SHORT)).toEqual([]);
    const full = fullForm(SHORT);

    expect(compileValidator(WorkflowDefinitionSchema)(full)).toEqual([]);
    expect(full).toEqual({
      id: 'tiny',
      name: 'tiny',
      version: '1',
      nodes: [{ id: 'a', typeId: 'core.noop', name: 'a', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
      edges: [],
      triggers: [],
      variables: [],
      metadata: {},
      settings: {},
    });
  });

  it('is the same object when nothing was left out', () => {
    const full = fullForm(SHORT);

    expect(fullForm(full)).toBe(full);
  });

  it('keeps what was written, and names the editor’s schema no longer', () => {
    const written = {
      $schema: './workflow.schema.json',
      ...SHORT,
      name: 'Tiny',
      nodes: [{ id: 'a', typeId: 'core.noop', name: 'A', notes: 'kept' }],
    };

    expect(compileValidator(WorkflowSourceSchema)(written)).toEqual([]);
    expect(fullForm(written)).toMatchObject({ name: 'Tiny', nodes: [{ name: 'A', notes: 'kept' }] });
    expect(fullForm(written)).not.toHaveProperty('$schema');
    expect(written).toHaveProperty('$schema');
  });

  it('that is none is left to those who check it', () => {
    for (const wrong of [null, 7, 'x', [], { nodes: 7 }, { nodes: [null, 7, []] }, { $schema: 7 }])
      expect(() => fullForm(wrong)).not.toThrow();
    expect(fullForm({ nodes: [null] })).toMatchObject({ nodes: [null] });
    expect(fullForm(JSON.parse('{"id":"a","nodes":[{"__proto__":{"x":1}}]}'))).toEqual(
      JSON.parse(
        '{"id":"a","name":"a","nodes":[{"__proto__":{"x":1},"name":"?","position":{"x":0,"y":0},"config":{},"inputs":{}}],"edges":[],"triggers":[],"variables":[],"metadata":{},"settings":{}}',
      ),
    );
  });
});
