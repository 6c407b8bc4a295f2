/** Strings that look like credentials, whoever wrote them and wherever they stand. They are masked in every mode. */

export interface CredentialShape {
  readonly name: string;
  readonly pattern: RegExp;
  /** What stays when the secret part goes; the whole match otherwise. */
  readonly keep?: (match: string) => string;
}

export const MASK = '[REDACTED]';

export const CREDENTIAL_SHAPES: readonly CredentialShape[] = [
  {
    name: 'private key',
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g,
  },
  {
    name: 'bearer token',
    pattern: /\bbearer[ \t]{1,8}(?=[a-z._~+/=-]{0,500}[0-9._~+/-])[a-z0-9._~+/-]{8,}=*/gi,
    keep: keepScheme,
  },
  { name: 'JSON web token', pattern: /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}/g },
  { name: 'sk- key', pattern: /\bsk-[A-Za-z0-9_-]{20,}/g },
  { name: 'AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])/g },
  { name: 'GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g },
  { name: 'Slack token', pattern: /\bxox[a-z]-[A-Za-z0-9-]{10,}/g },
  { name: 'Google API key', pattern: /\bAIza[0-9A-Za-z_-]{35}/g },
  { name: 'GitLab token', pattern: /\bglpat-[0-9A-Za-z_-]{20,}/g },
  { name: 'Weft key', pattern: /\bweft_(?:live|test)_[A-Za-z0-9_-]{8,}/g },
  // Last, so that a key inside a URL is already gone and a second pass finds nothing new.
  {
    name: 'URL password',
    pattern: /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"'<>]{0,200}:[^\s/@"'<>]{1,500}@/gi,
    keep: keepUser,
  },
];

/** One pass that rules out nearly every text. Coarser than the shapes, because JSON escapes hide word boundaries. */
const ANY_SHAPE =
  /sk-[A-Za-z0-9_-]{20}|AKIA|ASIA|gh[pousr]_|github_pat_|xox[a-z]-|eyJ|bearer|PRIVATE KEY|AIza|glpat-|weft_(?:live|test)_|:\/\/[^\s/@]{0,800}@/i;

export function mayHoldCredential(text: string): boolean {
  return ANY_SHAPE.test(text);
}

/** For messages and log lines: everything that looks like a credential is masked, the rest stays. */
export function redactText(text: string): string {
  if (!mayHoldCredential(text)) return text;
  let result = text;
  for (const { pattern, keep } of CREDENTIAL_SHAPES) {
    result = result.replace(pattern, (match) => (keep === undefined ? MASK : keep(match)));
  }
  return result;
}

function keepUser(match: string): string {
  const scheme = match.indexOf('://') + 3;
  return `${match.slice(0, match.indexOf(':', scheme) + 1)}${MASK}@`;
}

function keepScheme(match: string): string {
  return `${match.slice(0, 'bearer'.length)} ${MASK}`;
}
