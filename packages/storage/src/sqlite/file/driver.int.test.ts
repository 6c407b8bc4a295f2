import { describe, expect, it } from 'vitest';
import { openDatabase } from './driver.ts';

describe('the SQLite binding', () => {
  it('is the one that Node has built in, where it has one', () => {
    const db = openDatabase(':memory:', { busyTimeoutMs: 0 });

    const found = db.prepare<{ version: string }>('SELECT sqlite_version() AS version').get();
    db.close();

    expect(found?.version === process.versions['sqlite']).toBe('sqlite' in process.versions);
  });
});
