import type { Json, WorkflowDefinition } from '@weft/protocol';
import { pointer, type Problems } from './problems.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

const PLACEHOLDER = /\{\{[^{}]*\}\}/;

/** Templates as other tools have them: nothing replaces them here, so the text would go out as it is written. */
export function* refusePlaceholders(
  definition: WorkflowDefinition,
  problems: Problems,
): CooperativeTask<void> {
  for (const [index, { config, inputs }] of definition.nodes.entries()) {
    yield* look(config, pointer('nodes', index, 'config'), problems);
    for (const [name, port] of Object.entries(inputs)) {
      const member = port.type === 'static' ? 'value' : 'expression';
      const text = port.type === 'static' ? port.value : port.type === 'expression' ? port.expression : null;
      yield* look(text, pointer('nodes', index, 'inputs', name, member), problems);
    }
  }
  for (const [index, { condition }] of definition.edges.entries()) {
    if (condition !== undefined)
      yield* look({ ...condition }, pointer('edges', index, 'condition'), problems);
  }
}

function* look(value: Json, path: string, problems: Problems): CooperativeTask<void> {
  const open: (readonly [value: Json, path: string])[] = [[value, path]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield;
    const [at, place] = next;
    const found = typeof at === 'string' ? PLACEHOLDER.exec(at) : null;
    if (found !== null) {
      problems.error(
        place,
        'placeholder',
        `Nothing replaces ${found[0].slice(0, 100)} here. Give the node an input of type "expression", as in {"type": "expression", "expression": "'Hello ' + variables.name"}.`,
      );
    }
    if (typeof at !== 'object' || at === null) continue;
    for (const [name, member] of Object.entries(at).reverse())
      open.push([member, `${place}${pointer(name)}`]);
  }
}
