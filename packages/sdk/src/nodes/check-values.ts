import { Errors } from 'typebox/schema';

const MOST_PROBLEMS = 5;

/** What is wrong with values, each beginning with the field; empty when nothing is. */
export function problemsOf(schema: object, values: unknown, name: string): string[] {
  const [isValid, errors] = Errors(schema, values);
  if (isValid) return [];
  const problems = errors.flatMap(({ instancePath, keyword, message, params }) => {
    const field = name + fieldOf(instancePath);
    if ('requiredProperties' in params)
      return names(params.requiredProperties).map((each) => `${field}.${each} is missing`);
    if ('additionalProperties' in params)
      return names(params.additionalProperties).map((each) => `${field}.${each} is not declared`);
    if ('allowedValue' in params) return [`${field} must be ${JSON.stringify(params.allowedValue)}`];
    // Of what is not declared, said already.
    return keyword === 'boolean' ? [] : [`${field} ${message}`];
  });
  return [...new Set(problems)].slice(0, MOST_PROBLEMS);
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** A JSON Pointer as one would write it in code. */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}
