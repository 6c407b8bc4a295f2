import { HostError } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';

/** References to templates, and what is recorded of them. */

export function parseRef(text: string): {
  readonly templateId: string;
  readonly version?: string;
  readonly libraryId?: string;
  readonly variableOverrides?: Record<string, never>;
} {
  const [templateId = '', version] = text.replace(/^prompt:/, '').split(/@(.*)/);
  return { templateId, ...(version !== undefined && version !== '' && { version }) };
}

export function refText(templateId: string, version: string | undefined): string {
  return version === undefined ? `prompt:${templateId}` : `prompt:${templateId}@${version}`;
}

export function hashOf(text: string): string {
  return `sha256:${sha256Hex(text)}`;
}

export function hashesOf(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hashOf(value)]));
}

export function refInvalid(ref: string): HostError {
  return new HostError('prompt_ref_invalid', `The library has no template "${ref}".`, { ref });
}
