import { watch } from 'node:fs';

/** An editor saves in several steps; what it leaves in the end is what counts. */
const SETTLE_MS = 50;

export interface WatchedFolders {
  /** Also these, from now on. */
  add(folders: Iterable<string>): void;
  stop(): void;
}

/** Tells of changes in folders, several in quick succession as one. */
export function watchFolders(onChange: () => void): WatchedFolders {
  const watchers = new Map<string, ReturnType<typeof watch>>();
  let timer: NodeJS.Timeout | undefined;

  function changed(): void {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLE_MS);
  }

  return {
    add(folders) {
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        const watcher = watch(folder, changed);
        // A folder that is removed is no reason to end; the next look says what is missing.
        watcher.on('error', () => {
          watcher.close();
          watchers.delete(folder);
          changed();
        });
        watchers.set(folder, watcher);
      }
    },
    stop() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
