import { spawn } from 'node:child_process';

/** Where the web page of a host is. The code is in the fragment, which browsers send to no server. */
export function studioUrl(hostUrl: string, code?: string): string {
  return `${hostUrl.replace(/\/+$/, '')}/studio/${code === undefined ? '' : `#code=${encodeURIComponent(code)}`}`;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** False where no browser can be expected: on a machine without a desktop, or at the other end of SSH. */
export async function openPage(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? [];
  if (program === undefined || !hasDesktop(process.env)) return false;
  return new Promise((done) => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0));
    child.unref();
  });
}

function hasDesktop(env: NodeJS.ProcessEnv): boolean {
  if (env['SSH_CONNECTION'] !== undefined) return false;
  return process.platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
}
