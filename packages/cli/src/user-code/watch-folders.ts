import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** One save is often several changes of files. */
const QUIET_MS = 40;
/** Folders beyond this number are not watched; a project that has them watches too much. */
const MOST_FOLDERS = 1_000;
const NOT_SOURCES = /(^|[\\/])(node_modules|\.git)([\\/]|$)/;

export interface Watching {
  /** Also watches the folders of these files. */
  follow(files: readonly string[]): void;
  close(): void;
}

/**
 * Calls back a moment after something in the folders has changed, until it is closed. Each folder is watched by itself: a watch of
 * Node that is recursive loses, on Linux, files that an editor replaces instead of writing to them.
 */
export function watchFolders(
  folders: readonly string[],
  changed: () => void,
  failed: (error: Error) => void,
): Watching {
  const watchers = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  /** Folders outside those that were named; what is below them is not watched. */
  const followed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function soon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchAll();
      changed();
    }, QUIET_MS);
  }

  function watchAll(): void {
    const found = [
      ...folders.flatMap((folder) => foldersFrom(folder)),
      ...[...followed].flatMap((folder) => foldersFrom(folder, 0)),
    ].slice(0, MOST_FOLDERS);
    const inodes = new Map(found.map(({ folder, inode }) => [folder, inode]));
    for (const [folder, { inode, watcher }] of watchers) {
      // One that was removed and made again has the same name.
      if (inodes.get(folder) === inode) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const { folder, inode } of found)
      if (!watchers.has(folder)) watchers.set(folder, { inode, watcher: watchOne(folder) });
  }

  function watchOne(folder: string): FSWatcher {
    const watcher = watch(folder);
    watcher.on('change', (_, name) => {
      if (!NOT_SOURCES.test(String(name))) soon();
    });
    watcher.on('error', (error) => {
      if (folders.includes(folder)) failed(error);
    });
    return watcher;
  }

  watchAll();
  return {
    follow(files) {
      for (const folder of new Set(files.map((file) => dirname(file)))) {
        const isKnown = folders.some((each) => folder === each || folder.startsWith(each + sep));
        if (!isKnown && !NOT_SOURCES.test(folder)) followed.add(folder);
      }
      watchAll();
    },
    close() {
      clearTimeout(timer);
      for (const { watcher } of watchers.values()) watcher.close();
    },
  };
}

const DEEPEST = 32;

/** It, and all below it, as far as they are there. */
function foldersFrom(folder: string, depth = DEEPEST): { readonly folder: string; readonly inode: number }[] {
  try {
    const { ino: inode } = statSync(folder);
    if (depth === 0) return [{ folder, inode }];
    const inner = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !NOT_SOURCES.test(entry.name))
      .flatMap(({ name }) => foldersFrom(join(folder, name), depth - 1));
    return [{ folder, inode }, ...inner];
  } catch {
    return [];
  }
}
