import type { JsonObject, WorkflowDefinition } from '@weft/protocol';
import { CliError, EXIT } from '../exit-code.ts';
import { shown } from '../output/terminal-text.ts';
import { closestName } from './closest-name.ts';
import type { GivenValues } from './key-values.ts';

/** An input that is declared as a string is the text that was typed: `order=41` is "41" there, without quotes for the shell. */
export function asDeclared(
  { variables }: Pick<WorkflowDefinition, 'variables'>,
  { values, texts }: GivenValues,
): JsonObject {
  const typed = variables.flatMap(({ name, type }) => {
    const text = texts.get(name);
    return type !== 'string' || text === undefined || typeof values[name] === 'string' ? [] : [[name, text]];
  });
  return { ...values, ...Object.fromEntries(typed) };
}

/** Throws for inputs that the workflow does not declare: a misspelt one would start a run with the default of the right one. */
export function refuseUndeclared(
  { id, variables }: Pick<WorkflowDefinition, 'id' | 'variables'>,
  inputs: JsonObject,
): void {
  const declared = variables.map(({ name }) => name);
  const undeclared = Object.keys(inputs).filter((name) => !declared.includes(name));
  if (undeclared.length === 0) return;
  const sentences = undeclared.map((name) => {
    const near = closestName(name, declared);
    return shown`Workflow ${id} declares no input "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`}`;
  });
  const known = declared.length === 0 ? 'It declares none.' : shown`It declares ${declared.join(', ')}.`;
  throw new CliError(
    EXIT.usage,
    'undeclared_input',
    `${sentences.join('\n')}\n${known} To pass it all the same: --allow-undeclared`,
    { details: { undeclared, declared } },
  );
}
