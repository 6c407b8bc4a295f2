import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../../../shared/assay/data', import.meta.url));

/** Evidence and expected outputs of the published reference; they lie beside the project, not in it. */
export const hasReferenceData = existsSync(join(FOLDER, 'cases/index.json'));

export function dataPath(...parts: string[]): string {
  return join(FOLDER, ...parts);
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
  return hasReferenceData ? (JSON.parse(dataText('cases/index.json')) as ReferenceCase[]) : [];
}

export interface ArchiveCase {
  readonly file: string;
  readonly expect: string;
}

export function archiveCases(): ArchiveCase[] {
  return hasReferenceData ? (JSON.parse(dataText('cases/archives/index.json')) as ArchiveCase[]) : [];
}
