import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Caller, Host, RegisterOptions, WorkflowProblem } from '@weft/engine';
import { type Json, type JsonObject, isHostError, isJsonObject } from '@weft/protocol/plain';
import { unusable } from '../../exit-code.ts';
import { lineOfPointer } from '../../parsing/json-lines.ts';
import { parseJsonText, readTextFile, reasonOf } from '../../parsing/key-values.ts';
import { toCliError } from '../../exit-code.ts';

/** What became of one file: a workflow, or the reason why it is not one. */
export type LoadedFile =
  | {
      readonly file: string;
      readonly id: string;
      readonly version: string;
      readonly warnings: readonly string[];
    }
  | { readonly file: string; readonly problems: readonly string[] };

type Registrar = Pick<Host, 'workflows'>;

/** Every *.json directly in the folders, in order of name. One bad file never keeps the others out. */
export async function loadWorkflowFiles(
  host: Registrar,
  caller: Caller,
  folders: readonly string[],
  options: RegisterOptions,
): Promise<readonly LoadedFile[]> {
  const read: (ReadFile | LoadedFile)[] = [];
  for (const folder of folders) for (const file of await jsonFilesIn(folder)) read.push(await readFile(file));
  // A child is not missing because its file comes later.
  const alongside = new Set(
    read.flatMap((file) => ('definition' in file ? [String(file.definition['id'])] : [])),
  );
  const loaded: LoadedFile[] = [];
  for (const file of read)
    loaded.push('definition' in file ? await load(host, caller, file, { ...options, alongside }) : file);
  return loaded;
}

async function jsonFilesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && entry.name.endsWith('.json'));
    return files.map((entry) => join(folder, entry.name)).sort();
  } catch (cause) {
    throw unusable('folder_unreadable', `--workflows ${folder} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

interface ReadFile {
  readonly file: string;
  readonly text: string;
  readonly definition: JsonObject;
}

async function readFile(file: string): Promise<ReadFile | LoadedFile> {
  let text: string;
  let definition: Json;
  try {
    text = await readTextFile(file);
    definition = parseJsonText(file, text);
  } catch (error) {
    const known = toCliError(error);
    if (known === undefined) throw error;
    return { file, problems: [known.message] };
  }
  if (!isJsonObject(definition) || !Array.isArray(definition['nodes'])) {
    return { file, problems: [`${basename(file)}: not a workflow definition (it has no "nodes")`] };
  }
  return { file, text, definition };
}

async function load(
  host: Registrar,
  caller: Caller,
  { file, text, definition }: ReadFile,
  options: RegisterOptions,
): Promise<LoadedFile> {
  const { errors } = await host.workflows.check(definition, caller.tenant, options.alongside);
  if (errors.length > 0) return { file, problems: errors.map((problem) => problemText(file, text, problem)) };
  try {
    const { id, version, warnings } = await host.workflows.register(caller, definition, options);
    return { file, id, version, warnings: warnings.map((problem) => problemText(file, text, problem)) };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { file, problems: [`${basename(file)}: ${error.message}`] };
  }
}

function problemText(file: string, text: string, problem: WorkflowProblem): string {
  return `${basename(file)}:${lineOfPointer(text, problem.path)}: ${problem.message}`;
}
