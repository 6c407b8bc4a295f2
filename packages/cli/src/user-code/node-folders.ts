import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isNodeDefinition, type NodeDefinition } from '@weft/sdk/nodes';
import { CliError, EXIT, unusable } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { loadModule } from './load-module.ts';

/** A node type, and the file that defines it. */
export interface FoundNode {
  readonly definition: NodeDefinition;
  readonly file: string;
}

export interface NodeFolders {
  readonly nodes: readonly FoundNode[];
  /** Files that define nothing, such as helpers. */
  readonly warnings: readonly string[];
  /** All that the modules were made of, in the folders and elsewhere. */
  readonly files: readonly string[];
}

const SOURCE = /\.(ts|mts|js|mjs)$/;
const NO_SOURCE = /\.d\.m?ts$|\.test\.m?[jt]s$|\.spec\.m?[jt]s$/;

/**
 * Every node type that the files of folders export, in the order of their names. Throws UserCodeError for a file that cannot be
 * loaded, and names both files where a type is defined twice.
 */
export async function loadNodeFolders(folders: readonly string[], cwd: string): Promise<NodeFolders> {
  const nodes: FoundNode[] = [];
  const warnings: string[] = [];
  const used = new Set<string>();
  for (const folder of folders) {
    for (const file of await sourceFilesIn(folder)) {
      const { exports, files } = await loadModule(file);
      for (const each of files) used.add(each);
      // A definition may be exported under two names.
      const found = new Set(Object.values(exports).filter(isNodeDefinition));
      if (found.size === 0)
        warnings.push(
          `${relative(cwd, file)} exports no node type: defineNode makes one. Helpers belong in a folder below.`,
        );
      for (const definition of found) nodes.push({ definition, file });
    }
  }
  refuseTwice(nodes, cwd);
  return { nodes, warnings, files: [...used] };
}

/** The sources directly in a folder; tests and declarations aside. */
export async function sourceFilesIn(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => SOURCE.test(name) && !NO_SOURCE.test(name)).sort();
    const files = names.map((name) => join(folder, name));
    const isFile = await Promise.all(files.map(async (file) => (await stat(file)).isFile()));
    return files.filter((_, index) => isFile[index]);
  } catch (cause) {
    throw unusable('folder_unreadable', `${folder} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

function refuseTwice(nodes: readonly FoundNode[], cwd: string): void {
  const first = new Map<string, FoundNode>();
  for (const node of nodes) {
    const { typeId, version } = node.definition;
    const name = `${typeId} ${version}`;
    const other = first.get(name);
    if (other !== undefined) {
      throw new CliError(
        EXIT.failed,
        'node_type_twice',
        `${name} is defined twice: in ${relative(cwd, other.file)} and in ${relative(cwd, node.file)}. Give one of them another typeId or version.`,
      );
    }
    first.set(name, node);
  }
}
