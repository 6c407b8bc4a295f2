import type { WorkflowDefinition } from '@weft/protocol';
import { ApiError, type Client, type WorkflowSummary } from '@weft/sdk';
import { CliError, toCliError } from '../../exit-code.ts';
import { shellCommand } from '../../output/shell-command.ts';
import { shown } from '../../output/terminal-text.ts';
import { closestName } from '../../parsing/closest-name.ts';

/** The error of a workflow that is not there, with what may have been meant; others as they are. */
export async function meantWorkflow(client: Client, error: unknown, asked: AskedWorkflow): Promise<unknown> {
  if (!(error instanceof ApiError) || error.status !== 404) return error;
  const known = toCliError(error);
  const hint = await hintFor(client, asked);
  if (known === undefined || hint === undefined) return error;
  const details = known.details === undefined ? {} : { details: known.details };
  return new CliError(known.exitCode, known.code, `${known.message} ${hint}`, { ...details, cause: error });
}

export interface AskedWorkflow {
  readonly id: string;
  /** The command that was given it, such as `run`. */
  readonly verb: string;
}

async function hintFor(client: Client, { id, verb }: AskedWorkflow): Promise<string | undefined> {
  let workflows: WorkflowSummary[];
  try {
    workflows = await allWorkflows(client);
  } catch (error) {
    // A key may start runs and not list workflows, and another host may have no list: there is just no hint.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
  const versions = workflows.filter((workflow) => workflow.id === id).map(({ version }) => version);
  if (versions.length > 0) return shown`Versions of ${id}: ${versions.join(', ')}`;
  const near = closestName(
    id,
    workflows.map((workflow) => workflow.id),
  );
  return near === undefined
    ? `List them: ${shellCommand('workflows ls', [])}`
    : `Did you mean: ${shellCommand(verb, [near])}`;
}

/** However many pages that takes. */
export async function allWorkflows(client: Client): Promise<WorkflowSummary[]> {
  const workflows: WorkflowSummary[] = [];
  for await (const row of client.workflows.list({ limit: 100 })) workflows.push(row);
  return workflows;
}

/** Undefined where the host does not show it: then it decides alone. */
export async function shownDefinition(
  client: Client,
  workflowId: string,
  version: string | undefined,
): Promise<WorkflowDefinition | undefined> {
  try {
    return await client.workflows.get(workflowId, version);
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 501].includes(error.status)) return undefined;
    throw error;
  }
}
