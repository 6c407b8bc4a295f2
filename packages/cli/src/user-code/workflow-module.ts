import { extname } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { loadModule } from './load-module.ts';
import { UserCodeError } from './user-code-error.ts';

/** A definition that a module exports. */
export interface ExportedWorkflow {
  /** `default`, or the name of the export. */
  readonly name: string;
  readonly definition: JsonObject;
}

export interface WorkflowModule {
  readonly workflows: readonly ExportedWorkflow[];
  /** The files that it was made of. */
  readonly files: readonly string[];
}

const CODE = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']);

export function isCodeFile(file: string): boolean {
  return CODE.has(extname(file));
}

/** Runs a file of the user in this process, and takes what `defineWorkflow` made of it. */
export async function loadWorkflows(file: string): Promise<WorkflowModule> {
  const { exports, files } = await loadModule(file);
  const workflows = Object.entries(exports).flatMap(([name, value]) => {
    const definition = asDefinition(value);
    return definition === undefined ? [] : [{ name, definition }];
  });
  if (workflows.length > 0) return { workflows, files };
  throw new UserCodeError([
    { file, message: 'It exports no workflow. Export what defineWorkflow returns, by name or as default.' },
  ]);
}

function asDefinition(value: unknown): JsonObject | undefined {
  const isOne =
    isJsonObject(value as Json) &&
    Array.isArray((value as JsonObject)['nodes']) &&
    typeof (value as JsonObject)['id'] === 'string';
  return isOne ? (value as JsonObject) : undefined;
}
