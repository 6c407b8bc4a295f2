import { fastFormats } from 'ajv-formats/dist/formats.js';
import { FORMATS } from '../validate.ts';

/**
 * Formats as the validators of our own documents know them. Their expressions are ours, not a client's: none takes more than
 * some hundred nanoseconds for a character.
 */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  if (!(FORMATS as readonly string[]).includes(name)) return undefined;
  const format = fastFormats[name as (typeof FORMATS)[number]];
  const rule = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (rule instanceof RegExp) return (text) => rule.test(text);
  return typeof rule === 'function' ? (text) => rule(text as never) === true : undefined;
}
