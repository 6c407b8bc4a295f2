import type { ReactNode } from 'react';
import { ApiError, ConnectionError } from '@weft/sdk';

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="empty" role="status">
      <div className="spinner" />
      <p>Loading {what}…</p>
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What the host said, or that it did not answer; with a way to try again where there is one. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <div>
        <strong>{problemTitle(error)}</strong>
        <p>{problemText(error)}</p>
        {error instanceof ApiError && error.requestId !== undefined && (
          <p className="small muted">Request {error.requestId}</p>
        )}
      </div>
      {onRetry !== undefined && (
        <button type="button" className="button spread" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function problemTitle(error: unknown): string {
  if (error instanceof ConnectionError) return 'The host does not answer';
  if (!(error instanceof ApiError)) return 'Something went wrong';
  if (error.status === 401) return 'The key is not accepted';
  if (error.status === 403) return 'Your key may not do this';
  if (error.status === 404) return 'Not found';
  return `The host refused this (${error.code})`;
}

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
