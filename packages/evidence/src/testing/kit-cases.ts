import { readdirSync, readFileSync } from 'node:fs';
import type { Declared } from '../contract/declared.ts';

type Side = Readonly<Record<string, string | { readonly base64: string }>>;

/** A case of the conformance kit: evidence, what is declared about it, and what must come out. */
export interface KitCase {
  readonly id: string;
  readonly contract: 'capability' | 'cross';
  readonly declared?: Declared;
  readonly base: Side;
  readonly head: Side;
  readonly expect: { readonly status: string; readonly output: string | null };
}

const FOLDER = new URL('../../kit/cases/', import.meta.url);

export const KIT_CASES: readonly KitCase[] = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as KitCase,
);

export function filesOf(side: Side): Record<string, Uint8Array | string> {
  return Object.fromEntries(
    Object.entries(side).map(([name, content]) => [
      name,
      typeof content === 'string' ? content : new Uint8Array(Buffer.from(content.base64, 'base64')),
    ]),
  );
}
