import { createEgress, NodeFailure, type ToolContext } from '@weft/engine';

export interface SampleContext {
  readonly secrets?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly holdsClaim?: () => boolean;
}

/** A context as the host gives one, with an egress that admits public addresses only. */
export function toolContext({
  secrets = {},
  signal,
  holdsClaim = () => true,
}: SampleContext = {}): ToolContext {
  const resolve = (secretId: string): Promise<string> => {
    const value = secrets[secretId];
    return value === undefined
      ? Promise.reject(new NodeFailure('credential_unavailable', `The secret "${secretId}" is not set.`))
      : Promise.resolve(value);
  };
  return {
    signal: signal ?? new AbortController().signal,
    invocationId: 'invocation-1',
    egress: createEgress({ allow: [], connectTimeoutMs: 5_000 }),
    secrets: { resolve },
    operatorSecrets: { resolve },
    holdsClaim,
  };
}
