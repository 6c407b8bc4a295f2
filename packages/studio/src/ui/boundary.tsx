import { Component, type ReactNode } from 'react';
import { Problem } from './states.tsx';

interface BoundaryProps {
  readonly children: ReactNode;
  /** In place of saying what went wrong. */
  readonly fallback?: ReactNode;
}

/**
 * What fails to show itself, such as a part of the page that could not be fetched while the host was away, takes nothing else with it.
 * A class, because React has no other way.
 */
export class Boundary extends Component<BoundaryProps, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return this.props.fallback ?? <Problem error={error} onRetry={() => location.reload()} />;
  }
}
