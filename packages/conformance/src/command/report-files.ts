import { constants } from 'node:fs';
import { access, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { renderHtml } from '../report/html-report.ts';
import { renderJson } from '../report/json-report.ts';
import { renderJunit } from '../report/junit-report.ts';
import type { SuiteReport } from '../report/suite-report.ts';
import { type Settings, UsageError } from './settings.ts';

type Reports = Settings['reports'];

const RENDERERS = {
  json: (report: SuiteReport) => renderJson(report, 2),
  xml: renderJunit,
  html: renderHtml,
} as const;

/** Looks without leaving anything behind. */
export async function expectWritable(reports: Reports, cwd: string): Promise<void> {
  for (const { file } of reports) {
    const path = resolve(cwd, file);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) throw new UsageError(`--report ${file} is a folder. Name a file.`);
    // With the slash it must be a folder.
    const place = found === undefined ? `${dirname(path)}/` : path;
    await access(place, constants.W_OK).catch((error: unknown) => unwritable(file, error));
  }
}

export async function writeReports(reports: Reports, cwd: string, report: SuiteReport): Promise<void> {
  for (const { file, format } of reports)
    await writeFile(resolve(cwd, file), RENDERERS[format](report)).catch((error: unknown) =>
      unwritable(file, error),
    );
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is a file',
  EACCES: 'you may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};

function unwritable(file: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  throw new UsageError(`--report ${file} cannot be written: ${REASONS[code] ?? (code || String(error))}.`);
}
