import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Caller, Host, KeptOutcome, RegisterOptions, WorkflowProblem } from '@weft/engine';
import { type JsonObject, isHostError, isJsonObject } from '@weft/protocol/plain';
import { toCliError, unusable } from '../../exit-code.ts';
import { lineOfPointer } from '../../parsing/json-lines.ts';
import { jsonFilesIn } from '../../parsing/json-files.ts';
import { parseJsonText, readTextFile } from '../../parsing/key-values.ts';

/** What became of one file: a workflow, one that waits for node types that no worker has served yet, or the reason why it is none. */
export type LoadedFile =
  | {
      readonly file: string;
      readonly id: string;
      readonly version: string;
      readonly warnings: readonly string[];
    }
  | { readonly file: string; readonly waitingFor: readonly string[] }
  | { readonly file: string; readonly problems: readonly string[] };

export interface FileOptions extends RegisterOptions {
  /** What becomes of a file later: its types are there, or in development have newer versions. */
  readonly onNews: (loaded: LoadedFile) => void;
}

type Registrar = Pick<Host, 'workflows'>;

/** Every *.json directly in the folders, in order of name. One bad file never keeps the others out. */
export async function loadWorkflowFiles(
  host: Registrar,
  caller: Caller,
  folders: readonly string[],
  options: FileOptions,
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
  read: ReadFile,
  { onNews, ...options }: FileOptions,
): Promise<LoadedFile> {
  const { file, definition } = read;
  try {
    const outcome = await host.workflows.keep(caller, definition, options, (later) =>
      onNews(loadedFrom(read, later)),
    );
    return loadedFrom(read, outcome);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { file, problems: [`${basename(file)}: ${error.message}`] };
  }
}

function loadedFrom({ file, text }: ReadFile, outcome: KeptOutcome): LoadedFile {
  const textOf = (problem: WorkflowProblem): string => problemText(file, text, problem);
  switch (outcome.state) {
    case 'waiting':
      return { file, waitingFor: outcome.types };
    case 'refused':
      return { file, problems: outcome.errors.map(textOf) };
    case 'registered': {
      const { id, version, warnings } = outcome.registration;
      return { file, id, version, warnings: warnings.map(textOf) };
    }
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
