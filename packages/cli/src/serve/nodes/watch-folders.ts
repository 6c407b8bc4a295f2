import { type FSWatcher, watch } from 'node:fs';
import { dirname, sep } from 'node:path';

/** One save is often several changes of files. */
const QUIET_MS = 40;
/** Folders outside those that were named. */
const MOST_FOLDERS = 100;
const NOT_SOURCES = /(^|[\\/])(node_modules|\.git)([\\/]|$)/;

export interface Watching {
  /** Also watches the folders of these files. */
  follow(files: readonly string[]): void;
  close(): void;
}

/** Calls back a moment after something in the folders has changed, until it is closed. */
export function watchFolders(
  folders: readonly string[],
  changed: () => void,
  failed: (error: Error) => void,
): Watching {
  let timer: NodeJS.Timeout | undefined;
  const watchers = new Map<string, FSWatcher>();

  function add(folder: string, recursive: boolean): void {
    const watcher = watch(folder, { recursive });
    watcher.on('change', (_, name) => {
      if (NOT_SOURCES.test(String(name ?? ''))) return;
      clearTimeout(timer);
      timer = setTimeout(changed, QUIET_MS);
    });
    watcher.on('error', failed);
    watchers.set(folder, watcher);
  }

  for (const folder of folders) add(folder, true);
  return {
    follow(files) {
      for (const folder of new Set(files.map((file) => dirname(file)))) {
        const isKnown = watchers.has(folder) || folders.some((each) => folder.startsWith(each + sep));
        if (!isKnown && !NOT_SOURCES.test(folder) && watchers.size < MOST_FOLDERS) add(folder, false);
      }
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
