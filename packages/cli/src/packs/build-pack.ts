import { basename, join, resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import {
  checkFiles,
  checkManifest,
  MANIFEST_FILE,
  manifestText,
  type PackFiles,
  type PackManifest,
} from '@weft/packs';
import { type NodeDefinition, nodeTypeDocument } from '@weft/sdk/nodes';
import { CliError, EXIT } from '../exit-code.ts';
import { parseJsonText } from '../parsing/key-values.ts';
import { bundlePack } from '../user-code/bundle-pack.ts';
import { loadNodeFolders, sourceFilesIn } from '../user-code/node-folders.ts';
import { filesOfFolder, readIfThere } from './pack-files.ts';

export interface BuildOptions {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
}

export interface BuiltPack {
  readonly manifest: PackManifest;
  readonly files: PackFiles;
}

const ENTRY = 'dist/index.mjs';
const CATEGORIES = new Set(['chat', 'control', 'data', 'canvas', 'coordination', 'integration']);

/** The runtime of a pack that has agents alone. */
const NO_CODE: JsonObject = { language: 'remote', entry: 'none' };

/**
 * A pack of what is in a folder. Where its `pack.json` names nodes, or agents alone, the files are taken as they are; else the node types that its
 * sources (or those in `nodes`) define become one module, with their schemas. Throws PackError, or UserCodeError with file and line.
 */
export async function buildPack(folder: string, options: BuildOptions): Promise<BuiltPack> {
  const given = await readTemplate(folder);
  const named = {
    engines: { openwop: '^1.0.0' },
    ...given,
    ...(options.name !== undefined && { name: options.name }),
    ...(options.version !== undefined && { version: options.version }),
  };
  const own = await filesOfFolder(folder);
  const { parts, files } = await partsOf(folder, given, own);
  const manifest = checkManifest({ ...named, ...parts });
  checkFiles(manifest, files);
  return { manifest, files: new Map([...files, [MANIFEST_FILE, Buffer.from(manifestText(manifest))]]) };
}

async function readTemplate(folder: string): Promise<JsonObject> {
  const path = join(folder, MANIFEST_FILE);
  const bytes = await readIfThere(path);
  if (bytes === undefined) return {};
  const value = parseJsonText(path, bytes.toString('utf8'));
  if (isJsonObject(value)) return value;
  throw new CliError(EXIT.failed, 'invalid_manifest', `${path} must hold a JSON object.`);
}

interface PackParts {
  readonly parts: JsonObject;
  readonly files: PackFiles;
}

async function partsOf(folder: string, given: JsonObject, own: PackFiles): Promise<PackParts> {
  if ('nodes' in given) return { parts: {}, files: own };
  if ('agents' in given && (await sourcesOf(folder)).length === 0) {
    const { runtime = NO_CODE } = given;
    return { parts: { nodes: [], runtime }, files: own };
  }
  return nodesOf(folder, own);
}

function sourcesOf(folder: string): Promise<readonly string[]> {
  return sourceFilesIn(resolve(folder, 'nodes')).catch(() => []);
}

async function nodesOf(folder: string, own: PackFiles): Promise<PackParts> {
  const source = await sourceFolder(folder);
  const { nodes } = await loadNodeFolders([source], folder);
  if (nodes.length === 0)
    throw new CliError(
      EXIT.failed,
      'no_node_types',
      `${basename(source)} exports no node type: defineNode makes one. A pack of other code names its nodes in pack.json.`,
    );
  const files = new Map(own);
  files.set(ENTRY, Buffer.from(await bundlePack([...new Set(nodes.map(({ file }) => file))], folder)));
  const documents = nodes.map(({ definition }) => packNode(definition, files));
  const runtime = { language: 'javascript', entry: ENTRY, format: 'esm', minRuntimeVersion: '20' };
  return { parts: { nodes: documents, runtime }, files };
}

/** `nodes` below the folder, where it has sources, else the folder. */
async function sourceFolder(folder: string): Promise<string> {
  return (await sourcesOf(folder)).length > 0 ? resolve(folder, 'nodes') : resolve(folder);
}

function packNode(definition: NodeDefinition, files: Map<string, Uint8Array>): Json {
  const { typeId, version, title, summary, category, role, secrets, ...schemas } =
    nodeTypeDocument(definition);
  const ref = (field: string, part: 'config' | 'inputs' | 'outputs') => {
    const schema = schemas[part];
    if (schema === undefined) return {};
    const path = `schemas/${typeId}.${part}.json`;
    files.set(path, Buffer.from(`${JSON.stringify(schema, null, 2)}\n`));
    return { [field]: path };
  };
  return {
    typeId,
    version,
    category: category !== undefined && CATEGORIES.has(category) ? category : 'integration',
    role: role ?? 'side-effect',
    ...(title !== undefined && { label: title }),
    ...(summary !== undefined && { description: summary }),
    ...ref('configSchemaRef', 'config'),
    ...ref('inputSchemaRef', 'inputs'),
    ...ref('outputSchemaRef', 'outputs'),
    ...(secrets !== undefined && { requiresSecrets: secrets.map((id) => ({ id, kind: 'custom' })) }),
  };
}
