import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { testFolder } from '../testing/sqlite-test-folder.ts';
import { openDatabase } from './driver.ts';
import { createWalScrub } from './wal-scrub.ts';

const { newPath } = testFolder();

it('of a store that was closed is not begun by a deletion that ends afterwards', async () => {
  const db = openDatabase(newPath(), { busyTimeoutMs: 0 });
  let scrubs = 0;
  const scrub = createWalScrub(db, { afterMs: 1, busyTimeoutMs: 0, beforeScrub: () => (scrubs += 1) });
  scrub.request();
  await expect.poll(() => scrubs).toBe(1);

  scrub.stop();
  db.close();
  scrub.request();

  await pause(20);
  expect(scrubs).toBe(1);
});
