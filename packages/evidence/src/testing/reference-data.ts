import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Evidence and expected outputs of the published reference, where they are next to the checkout; they are no part of the project. */
const FOLDER = process.env['WEFT_ASSAY_DATA'];
export const hasReferenceData = FOLDER !== undefined;

export function dataPath(...parts: string[]): string {
  return join(FOLDER ?? '', ...parts);
}

export function dataText(...parts: string[]): string {
  return readFileSync(dataPath(...parts), 'utf8');
}

export interface ReferenceCase {
  readonly id: string;
  readonly contract: 'cross_runtime_diff.v0' | 'capability_diff.v0';
  readonly config: Readonly<Record<string, string | null>> | null;
  readonly ref: { readonly exit: number; readonly status: string | null };
}

export function referenceCases(): ReferenceCase[] {
  return JSON.parse(dataText('cases/index.json')) as ReferenceCase[];
}

export interface ArchiveCase {
  readonly file: string;
  readonly expect: string;
}

export function archiveCases(): ArchiveCase[] {
  return JSON.parse(dataText('cases/archives/index.json')) as ArchiveCase[];
}
