/**
 * What the system itself puts between a pack and the rest of the machine. Node's permission model is a fence: it keeps a program from
 * files, processes and addons as long as the program finds no way around it. Walls are the kernel's.
 *
 * On Linux: no network, no process but its own, no temporary files and sockets of others, no privileges, and another user where this
 * one may change it. Tried before it is used; where one part is refused, there are no walls.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface Walls {
  /** Whether there are any. */
  readonly isWalled: boolean;
  /** The program runs as another user. */
  readonly isOtherUser: boolean;
  /** For people. */
  readonly text: string;
  /** What a command is written behind. */
  readonly prefix: readonly string[];
}

/** Where programs put sockets and files that others may open. A folder that holds Node itself stays as it is. */
const COVERED = ['/tmp', '/var/tmp', '/run', '/dev/shm', '/var/lib'];
/** The shell stays as the first process of its namespace: with its end the kernel ends all others. */
const SCRIPT =
  'while [ "$1" != -- ]; do mount -t tmpfs -o ro,size=4k,mode=555 none "$1" || exit 97; shift; done; shift; "$@"; exit $?';
const NOBODY = '65534';
const TRY_MS = 5_000;

let known: Promise<Walls> | undefined;

/** Found out once. */
export function findWalls(): Promise<Walls> {
  known ??= tryWalls();
  return known;
}

async function tryWalls(): Promise<Walls> {
  if (process.platform !== 'linux') return none(`${process.platform} has none that Weft knows`);
  const isRoot = process.getuid?.() === 0;
  const prefix = prefixOf(isRoot);
  const missing = ['/usr/bin/unshare', '/usr/bin/setpriv', '/bin/sh'].find((path) => !existsSync(path));
  if (missing !== undefined) return none(`${missing} is missing (util-linux)`);
  const problem = await new Promise<string | undefined>((resolve) => {
    const [command, ...args] = [...prefix, process.execPath, '--eval', '0'];
    execFile(command, args, { env: {}, cwd: '/', timeout: TRY_MS }, (error, _, stderr) => {
      resolve(error === null ? undefined : (stderr.trim().split('\n')[0] ?? error.message));
    });
  });
  if (problem !== undefined) return none(`the system refuses them: ${problem}`);
  const user = isRoot ? 'as another user' : 'as the same user, whose files Node’s permissions alone protect';
  return {
    isWalled: true,
    isOtherUser: isRoot,
    text: `in namespaces of their own, without network, ${user}`,
    prefix,
  };
}

function prefixOf(isRoot: boolean): string[] {
  const covered = COVERED.filter(
    (folder) => existsSync(folder) && !process.execPath.startsWith(`${folder}/`),
  );
  const privileges = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  const user = ['--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'];
  return [
    // It is killed when its parent ends, and with it everything inside.
    ...['/usr/bin/setpriv', '--pdeathsig', 'KILL'],
    ...['/usr/bin/unshare', ...(isRoot ? [] : ['--user', '--map-root-user'])],
    ...['--net', '--ipc', '--uts', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc'],
    ...['/bin/sh', '-c', SCRIPT, 'sh', ...covered, '--'],
    ...['/usr/bin/setpriv', ...(isRoot ? user : []), ...privileges],
  ];
}

function none(why: string): Walls {
  return { isWalled: false, isOtherUser: false, text: why, prefix: [] };
}
