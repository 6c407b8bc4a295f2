import { isHostError, RESERVED_TYPE_PREFIXES } from '@weft/protocol/plain';
import type { Client, WorkflowProblem, WorkflowReport } from '@weft/sdk';
import { conformanceFor } from '../../serve/conformance.ts';
import { VERSION } from '../../version.ts';

export type Checker = (definition: unknown) => Promise<WorkflowReport>;

/** The engine's own compiler, as the host would run it; the host is never started and its store stays empty. */
export async function openChecker(isTestHost: boolean): Promise<Checker> {
  const { createHost, openMemoryStore } = await import('@weft/engine');
  const conformance = await conformanceFor(isTestHost);
  const host = createHost({ store: openMemoryStore(), version: VERSION, conformance });
  return async (definition) => {
    try {
      return withoutWorkers(await host.workflows.check(definition));
    } catch (error) {
      if (!isHostError(error)) throw error;
      return reportOf(error);
    }
  };
}

/** A running host knows the node types that its workers have served. */
export function hostChecker(client: Client): Checker {
  return (definition) => client.workflows.check(definition);
}

export function reportOf({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): WorkflowReport {
  return { errors: [{ path: '', code, message }], warnings: [] };
}

/** Which types workers serve is not known here, so that an unknown one need not be a mistake. */
function withoutWorkers(report: WorkflowReport): WorkflowReport {
  const doubts = report.errors.filter(isOfWorkers);
  const errors = report.errors.filter((error) => !isOfWorkers(error));
  return { ...report, errors, warnings: [...doubts, ...report.warnings] };
}

function isOfWorkers({ code, details }: WorkflowProblem): boolean {
  const typeId = details?.['typeId'];
  if (code !== 'unknown_node_type' || typeof typeId !== 'string') return false;
  return typeId.includes('.') && !RESERVED_TYPE_PREFIXES.some((prefix) => typeId.startsWith(prefix));
}
