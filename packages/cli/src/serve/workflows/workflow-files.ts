import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Caller, Host, RegisterOptions, WorkflowProblem } from '@weft/engine';
import { type JsonObject, isHostError, isJsonObject } from '@weft/protocol/plain';
import { toCliError, unusable } from '../../exit-code.ts';
import { lineOfPointer } from '../../parsing/json-lines.ts';
import { jsonFilesIn } from '../../parsing/json-files.ts';
import { parseJsonText, readTextFile } from '../../parsing/key-values.ts';

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
  for (const folder of folders)
    for (const file of await jsonFilesIn('/', folder)) read.push(await readDefinition(file));
  // A child is not missing because its file comes later.
  const alongside = new Set(
    read.flatMap((file) => ('definition' in file ? [String(file.definition['id'])] : [])),
  );
  const loaded: LoadedFile[] = [];
  for (const file of read)
    loaded.push('definition' in file ? await load(host, caller, file, { ...options, alongside }) : file);
  return loaded;
}

interface ReadFile {
  readonly file: string;
  readonly text: string;
  readonly definition: JsonObject;
}

async function readDefinition(file: string): Promise<ReadFile | LoadedFile> {
  try {
    const text = await readDefinitionFile(file);
    const definition = parseJsonText(file, text);
    if (isJsonObject(definition) && Array.isArray(definition['nodes'])) return { file, text, definition };
    return { file, problems: [`${basename(file)}: not a workflow definition (it has no "nodes")`] };
  } catch (error) {
    const known = toCliError(error);
    if (known === undefined) throw error;
    return { file, problems: [known.message] };
  }
}

async function load(
  host: Registrar,
  caller: Caller,
  { file, text, definition }: ReadFile,
  options: RegisterOptions,
): Promise<LoadedFile> {
  try {
    const { errors } = await host.workflows.check(definition, caller.tenant, options.alongside);
    if (errors.length > 0)
      return { file, problems: errors.map((problem) => problemText(file, text, problem)) };
    const { id, version, warnings } = await host.workflows.register(caller, definition, options);
    return { file, id, version, warnings: warnings.map((problem) => problemText(file, text, problem)) };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { file, problems: [`${basename(file)}: ${error.message}`] };
  }
}

/** Far above any limit on a definition, so that a file of another kind is not read into memory to find that out. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Reading a pipe would wait for its writer, and keep the host from starting. */
async function readDefinitionFile(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && !found.isDirectory() && !found.isFile())
    throw unusable('file_unreadable', `${file} cannot be read: it is not a regular file.`);
  if (found !== undefined && found.size > MAX_FILE_BYTES)
    throw unusable('file_unreadable', `${file} is too large for a definition: ${found.size} bytes.`);
  return readTextFile(file);
}

function problemText(file: string, text: string, problem: WorkflowProblem): string {
  return `${basename(file)}:${lineOfPointer(text, problem.path)}: ${problem.message}`;
}
