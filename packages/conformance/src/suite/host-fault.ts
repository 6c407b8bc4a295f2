import type { ShownRequest } from './trace.ts';

/** How a host can fail to answer at all, as against answering wrongly. */
export type FaultKind = 'unreachable' | 'timeout' | 'broken' | 'redirect' | 'too-large' | 'stopped';

export class HostFault extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HostFault';
    this.kind = kind;
  }
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** One sentence for whatever `fetch` threw. */
export function faultOf(error: unknown, { method, path }: Pick<ShownRequest, 'method' | 'path'>): HostFault {
  if (error instanceof HostFault)
    return new HostFault(error.kind, `${method} ${path}: ${error.message}`, error.cause);
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return new HostFault('timeout', `${method} ${path}: no answer in time`, error);
  if (name === 'AbortError')
    return new HostFault('stopped', `${method} ${path}: given up, the check's time is over`, error);
  const { code, message } = rootOf(error);
  if (message === 'bad port')
    return new HostFault('unreachable', `${method} ${path}: HTTP clients connect to no such port`, error);
  if (UNREACHABLE.has(code))
    return new HostFault('unreachable', `${method} ${path}: no connection (${code})`, error);
  return new HostFault(
    'broken',
    `${method} ${path}: the answer broke off or is not HTTP (${message})`,
    error,
  );
}

/** `fetch` wraps the cause, sometimes twice. */
function rootOf(error: unknown): { code: string; message: string } {
  let root: unknown = error;
  for (let depth = 0; depth < 5 && root instanceof Error && root.cause !== undefined; depth += 1)
    root = root.cause;
  const code = root instanceof Error && 'code' in root ? String(root.code) : '';
  const message = root instanceof Error ? root.message : String(root);
  return { code, message: code === '' ? message : `${code}: ${message}` };
}
