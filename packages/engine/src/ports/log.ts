import type { Json } from '@weft/protocol';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Ids and numbers go into fields; neither fields nor message may hold a payload or a secret. */
export type Log = (level: LogLevel, fields: Record<string, Json | undefined>, message: string) => void;

export const SILENT: Log = () => undefined;

/**
 * What may be logged of an error no one foresaw: its kind and where it was thrown. Its message may quote a payload or a
 * credential, so it stays out.
 */
export function errorFields(error: unknown): { errorName: string; errorAt?: string } {
  if (!(error instanceof Error)) return { errorName: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  const at = frames
    .slice(0, 4)
    .map((line) => line.trim())
    .join(' | ');
  return at === '' ? { errorName: error.name } : { errorName: error.name, errorAt: at };
}
