/**
 * What a database of ours would not keep as it is: the SQLite binding cuts a text at NUL and PostgreSQL refuses it, and both know
 * UTF-8 only, in which half of a surrogate pair becomes U+FFFD. Two such texts could become one. JSON text never holds either.
 */
export class UnstorableTextError extends TypeError {
  constructor() {
    super('A text that holds NUL or half of a surrogate pair cannot be stored.');
    this.name = 'UnstorableTextError';
  }
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** For drivers, before anything is bound. Throws UnstorableTextError. */
export function assertStorable(values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'string' && !isStorable(value)) throw new UnstorableTextError();
  }
}
