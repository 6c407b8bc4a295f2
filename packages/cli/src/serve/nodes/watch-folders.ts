import { type FSWatcher, watch } from 'node:fs';

/** One save is often several changes of files. */
const QUIET_MS = 40;

/** Calls back a moment after something in the folders has changed, until it is closed. */
export function watchFolders(
  folders: readonly string[],
  changed: () => void,
  failed: (error: Error) => void,
): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET_MS);
  };
  const watchers = folders.map((folder): FSWatcher => {
    const watcher = watch(folder, { recursive: true });
    watcher.on('change', (_, name) => {
      if (!/(^|[\\/])(node_modules|\.git)([\\/]|$)/.test(String(name ?? ''))) soon();
    });
    watcher.on('error', failed);
    return watcher;
  });
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
