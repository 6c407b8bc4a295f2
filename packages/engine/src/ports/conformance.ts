import type { ErrorCode, Json } from '@weft/protocol';
import type { NodeType } from '../model/node-type.ts';
import type { Models } from './models.ts';
import type { SecretResolver } from './secrets.ts';

/**
 * What makes a host a test host: the mocks and probes that conformance suites expect. `@weft/engine/conformance` provides it; a
 * live host is never given it and loads no module of it.
 */
export interface Conformance {
  /** Next to the built-in node types, or in place of those with the same id. */
  readonly nodes: readonly NodeType[];
  /** What `configurable.mockProvider` may name. */
  readonly mockProviders: readonly string[];
  /** What is wrong with `configurable.mockProvider`; undefined when nothing is. */
  mockProviderProblem(
    asked: Json,
  ): { readonly code: ErrorCode; readonly message: string; readonly path: string } | undefined;
  /** With the mock that a run's options name, before the host's own models. */
  models(own: Models): Models;
  /** With the secrets of the suite, after those that are set. */
  secrets(own: SecretResolver): SecretResolver;
}
