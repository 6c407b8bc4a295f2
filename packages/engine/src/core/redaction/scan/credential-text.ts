import { areNoise, type CredentialSpan, findCredentials, isPlain } from './credential-scan.ts';
import { CREDENTIAL_SHAPES, type CredentialShape } from './credential-table.ts';
import { MASK } from './marks.ts';
import { afterPadding, eachEncoded, percentDecoded, unescaped, type View } from './views.ts';
import type { Work } from './work.ts';

/**
 * Credentials in a text. `plain` looks at the text as it is and percent-encoded: cheap enough for every event. `deep` also
 * looks behind escapes, base64 and hexadecimal: for what leaves the house, and for what is kept for good.
 */
export type Depth = 'plain' | 'deep';

export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Nothing shorter than this many bytes is a credential of any shape. */
const MIN_ENCODED_BYTES = 18;

/** In order; they may overlap. */
export function credentialSpans(text: string, depth: Depth, work?: Work): readonly CredentialSpan[] {
  const plain = findCredentials(text, work);
  if (!text.includes('%') && depth === 'plain') return plain;
  const spans = [...plain];
  const percent = percentDecoded(text, false, work);
  if (percent !== undefined) addFromView(spans, percent, work);
  if (depth === 'deep') {
    const escaped = unescaped(text, false, work);
    if (escaped !== undefined) addFromView(spans, escaped, work);
    addFromEncoded(spans, text, work);
  }
  return spans.length === plain.length ? plain : spans.sort((a, b) => a.start - b.start);
}

/** For messages and log lines: everything that looks like a credential is masked, the rest stays. */
export function redactText(text: string): string {
  return withMasks(text, credentialSpans(text, 'plain'));
}

export function redactDeep(text: string): string {
  return withMasks(text, credentialSpans(text, 'deep'));
}

export function mayHoldCredential(text: string): boolean {
  return !isPlain(text) && credentialSpans(text, 'plain').length > 0;
}

const NAMES: ReadonlySet<string> = new Set(
  CREDENTIAL_SHAPES.flatMap(({ anyCase, begins }) => (anyCase === true ? begins : [])).map((begin) =>
    begin.replace(/[=?&#;]/g, ''),
  ),
);

/** The kind of credential that a member of an object is by its name and value together. */
export function credentialMember(name: string, value: string): CredentialShape | undefined {
  if (!NAMES.has(name.toLowerCase())) return undefined;
  const [span] = findCredentials(`${name}="${value}"`);
  return span !== undefined && span.start > name.length ? span.shape : undefined;
}

function withMasks(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text;
  let result = '';
  let from = 0;
  for (const { start, end } of spans) {
    if (start >= from) result += text.slice(from, start) + MASK;
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

function addFromView(spans: CredentialSpan[], view: View, work: Work | undefined): void {
  const { starts } = view;
  for (const { start, end, shape } of findCredentials(view.text, work))
    spans.push({ start: starts[start] ?? 0, end: starts[end] ?? 0, shape });
}

/** One character per byte. What is not ASCII is in no credential, so it does not matter how it is read. */
const byteText = new TextDecoder('latin1');

function addFromEncoded(spans: CredentialSpan[], text: string, work: Work | undefined): void {
  eachEncoded(
    text,
    MIN_ENCODED_BYTES,
    ({ bytes, run }) => {
      if (work !== undefined) work.steps += bytes.length;
      const [span] = areNoise(bytes) ? [] : findCredentials(byteText.decode(bytes), work);
      if (span !== undefined)
        spans.push({ start: run.start, end: afterPadding(text, run.end), shape: span.shape });
    },
    work,
  );
}
