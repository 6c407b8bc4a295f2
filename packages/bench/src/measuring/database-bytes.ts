import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

/**
 * Bytes of the databases in a folder once everything is in them. A stopped server may leave its write-ahead log behind, whose
 * length says nothing about the data, so it is brought in first, for every contender alike.
 */
export function databaseBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.endsWith('.db'));
  for (const name of files) checkpoint(join(folder, name));
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

function checkpoint(file: string): void {
  const db = new DatabaseSync(file);
  const result = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
  db.close();
  if (result.busy !== 0) throw new Error(`${file} is still in use; its size would be wrong`);
}
