import type { PromptTemplateDocument } from '../documents/agents/prompts.ts';
import { HostError } from '../errors/errors.ts';
import type { Json, JsonObject } from '../json/json.ts';

/** A template with values in place of its variables. */
export interface ComposedPrompt {
  readonly text: string;
  /** The values that stand in it, as text, by name. */
  readonly values: Readonly<Record<string, string>>;
}

const MAX_COMPOSED = 262_144;
const PLACE = /\{\{\s*([a-zA-Z_][a-zA-Z0-9_]{0,63})\s*\}\}/g;

type Template = Pick<PromptTemplateDocument, 'text' | 'variables'>;

/**
 * Puts values in place of `{{name}}`, in one pass, so that a value is never read as a template. Throws HostError:
 * `prompt_variable_unresolved`, `prompt_variable_type_mismatch`, `validation_error` for a name that the template does not have.
 */
export function composePrompt(template: Template, given: JsonObject, isUntrusted: boolean): ComposedPrompt {
  const values = valuesOf(template, given);
  const marked = new Map(
    [...values].map(([name, value]) => [
      name,
      isUntrusted ? `<UNTRUSTED>${escapeMarks(value)}</UNTRUSTED>` : value,
    ]),
  );
  checkLength(template.text, marked);
  const text = template.text.replace(PLACE, (_place, name: string) => marked.get(name) ?? '');
  return { text, values: Object.fromEntries(values) };
}

/** As text, by name, in the order of the declarations. */
function valuesOf({ text, variables = [] }: Template, given: JsonObject): ReadonlyMap<string, string> {
  const declared = new Map(variables.map((variable) => [variable.name, variable]));
  const names = new Set([...declared.keys(), ...placeholders(text)]);
  for (const name of Object.keys(given)) if (!names.has(name)) throw unknown(name, names);
  const values = new Map<string, string>();
  for (const name of names) {
    const variable = declared.get(name);
    const value = Object.hasOwn(given, name) ? given[name] : variable?.defaultValue;
    if (value === undefined || value === null) {
      if (variable?.required === true) throw unresolved(name);
      continue;
    }
    if (variable !== undefined && typeOf(value) !== variable.type) throw mismatch(name, variable.type, value);
    values.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return values;
}

/** Before it is made: a variable may stand in a template a thousand times. */
function checkLength(text: string, values: ReadonlyMap<string, string>): void {
  let length = text.length;
  for (const [, name = ''] of text.matchAll(PLACE)) length += values.get(name)?.length ?? 0;
  if (length <= MAX_COMPOSED) return;
  const message = `The prompt would take ${length} characters; the limit is ${MAX_COMPOSED}. Give it shorter values.`;
  throw new HostError('validation_error', message, { limit: MAX_COMPOSED, observed: length });
}

/** Names that stand in a template. */
export function placeholders(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(PLACE)].map(([, name = '']) => name));
}

function escapeMarks(text: string): string {
  return text.replace(/<(?=\/?untrusted)/gi, '&lt;');
}

function typeOf(value: Json): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function unknown(name: string, names: ReadonlySet<string>): HostError {
  const known = names.size === 0 ? 'none' : [...names].join(', ');
  const message = `variables.${name}: the template has no such variable; it has ${known}.`;
  return new HostError('validation_error', message, { field: `variables.${name}` });
}

function unresolved(name: string): HostError {
  const message = `The prompt needs a value for its variable "${name}".`;
  return new HostError('prompt_variable_unresolved', message, { variable: name });
}

function mismatch(name: string, type: string, value: Json): HostError {
  const message = `The variable "${name}" of the prompt takes a value of type ${type}, not ${typeOf(value)}.`;
  return new HostError('prompt_variable_type_mismatch', message, { variable: name, type });
}
