/**
 * Precedence of semantic versions. What follows a plus sign does not count, so that versions may be equal without being the same:
 * then the one that was registered first comes first.
 */
export function compareVersions(left: string, right: string): number {
  const a = partsOf(left);
  const b = partsOf(right);
  for (const [index, number] of a.base.entries()) {
    const difference = number - (b.base[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length;
  return compareIdentifiers(a.before, b.before);
}

interface Parts {
  readonly base: readonly number[];
  /** What marks a version as one before the release; empty for the release. */
  readonly before: readonly string[];
}

function partsOf(version: string): Parts {
  const [release = ''] = version.split('+', 1);
  const dash = release.indexOf('-');
  const base = dash < 0 ? release : release.slice(0, dash);
  return {
    base: base.split('.').map(Number),
    before: dash < 0 ? [] : release.slice(dash + 1).split('.'),
  };
}

function compareIdentifiers(left: readonly string[], right: readonly string[]): number {
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    const difference = compareIdentifier(a, b);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const DIGITS = /^\d+$/;

/** Numbers come before words, and are compared as numbers, however long. */
function compareIdentifier(a: string, b: string): number {
  const isNumber = DIGITS.test(a);
  if (isNumber !== DIGITS.test(b)) return isNumber ? -1 : 1;
  if (isNumber) {
    const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
    if (left.length !== right.length) return left.length - right.length;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A version whose schemas are not those that its name stands for: `1.0.0` becomes `1.0.0+0123abcd`. */
export function developmentVersion(version: string, digest: string): string {
  return `${version}${version.includes('+') ? '.' : '+'}${digest.slice(0, 8)}`;
}
