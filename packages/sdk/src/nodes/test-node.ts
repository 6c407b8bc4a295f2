import type { Static } from 'typebox';
import { problemsOf } from './check-values.ts';
import type { PortValues, TypedNode } from './define-node.ts';
import { jsonTextOf } from './json-values.ts';
import type { LogLevel, NodePorts, NodeSchema } from './node-definition.ts';
import { isNodeError, NodeError, taskErrorOf } from './node-error.ts';
import { nodeTypeDocument } from './node-type-document.ts';

interface TestOptions<Inputs, Config, Secret extends string> {
  readonly inputs: Inputs;
  /** Config of the node; may be left out where the node has none. */
  readonly config?: Config | undefined;
  /** Values of its secrets, by id. */
  readonly secrets?: Readonly<Record<Secret, string>> | undefined;
  readonly attempt?: number | undefined;
  readonly invocationId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** What a host would have seen of one attempt. */
interface Seen {
  /** All that was emitted. */
  readonly text: string;
  readonly logs: readonly LogLine[];
  /** What `heartbeat` was called with, in order. */
  readonly progress: readonly unknown[];
}

export type TestedNode<Outputs> = Seen &
  (
    | { readonly outputs: Outputs; readonly error?: undefined }
    | { readonly outputs?: undefined; readonly error: NodeError }
  );

/**
 * Performs a node once, without a host. Inputs, config and outputs are checked as a host checks them; whatever makes the attempt fail
 * is returned as `error`, with the code that the run would show.
 */
export async function testNode<
  Inputs extends NodePorts,
  Outputs extends NodePorts,
  Config extends NodeSchema,
  Secret extends string,
>(
  node: TypedNode<string, Inputs, Outputs, Config, Secret>,
  options: TestOptions<PortValues<Inputs>, Static<Config>, Secret>,
): Promise<TestedNode<PortValues<Outputs>>> {
  const document = nodeTypeDocument(node);
  const { text, logs, progress } = { text: [] as string[], logs: [] as LogLine[], progress: [] as unknown[] };
  const seen = (): Seen => ({ text: text.join(''), logs, progress });
  const signal = options.signal ?? new AbortController().signal;
  try {
    demand('validation_error', document.inputs ?? {}, options.inputs, 'inputs');
    const config = options.config ?? {};
    demand('validation_error', document.config ?? NO_CONFIG, config, 'config');
    const returned = await node.run({
      inputs: structuredClone(options.inputs),
      config: structuredClone(config) as Static<Config>,
      secrets: secretsOf(node.secrets ?? [], options.secrets),
      invocationId: options.invocationId ?? 'test-invocation',
      attempt: options.attempt ?? 1,
      runId: 'test-run',
      nodeId: 'test-node',
      workflowId: 'test-workflow',
      signal,
      emit: (piece) => void text.push(piece),
      heartbeat(details) {
        signal.throwIfAborted();
        progress.push(details);
      },
      log: (level, message, fields) =>
        void logs.push({ level, message, ...(fields !== undefined && { fields }) }),
    });
    const outputs = JSON.parse(jsonTextOf(returned)) as PortValues<Outputs>;
    demand('output_invalid', document.outputs ?? {}, outputs, 'outputs');
    return { ...seen(), outputs };
  } catch (error) {
    return { ...seen(), error: asNodeError(error) };
  }
}

const NO_CONFIG = { type: 'object', additionalProperties: false };

function demand(code: string, schema: object, values: unknown, name: string): void {
  const problems = problemsOf(schema, values, name);
  if (problems.length > 0) throw new NodeError(code, `${problems.join('; ')}.`);
}

function secretsOf<Secret extends string>(
  declared: readonly Secret[],
  given: Readonly<Record<Secret, string>> | undefined,
): Readonly<Record<Secret, string>> {
  const secrets = given ?? ({} as Readonly<Record<Secret, string>>);
  for (const id of declared) {
    if (typeof secrets[id] !== 'string')
      throw new NodeError('credential_unavailable', `secrets.${id} is missing: the node declares it.`);
  }
  return secrets;
}

function asNodeError(thrown: unknown): NodeError {
  if (isNodeError(thrown)) return thrown;
  const { code, message, details } = taskErrorOf(thrown);
  return new NodeError(code, message, { details, cause: thrown });
}
