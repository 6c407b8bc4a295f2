import type { ArgsDef } from 'citty';

/** A template, wherever a command takes one. */
export const PROMPT_ARG = {
  type: 'positional',
  description: 'ID, or ID@VERSION; the newest version by default',
  required: true,
} as const satisfies ArgsDef[string];

/** `prompt:` before it is let pass. */
export function parsePromptRef(text: string): { readonly templateId: string; readonly version?: string } {
  const [templateId = '', version] = text.replace(/^prompt:/, '').split(/@(.*)/);
  return version === undefined || version === '' ? { templateId } : { templateId, version };
}
