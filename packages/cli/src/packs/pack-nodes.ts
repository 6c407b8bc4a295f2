import { availableParallelism } from 'node:os';
import {
  createWasmThreads,
  type JavaScriptPack,
  type OpenedPack,
  openJavaScriptPack,
  openWasmPack,
  PackError,
  type PackNode,
  schemasOf,
  type WasmPack,
} from '@weft/packs';
import type { NodeTypeDocument } from '@weft/protocol/plain';
import { type LogLevel, type NodeDefinition, NodeError } from '@weft/sdk/nodes';
import type { NodeSource } from '../serve/nodes/process-messages.ts';
import type { FoundNode, NodeFolders } from '../user-code/node-folders.ts';
import { hostFetch } from './host-fetch.ts';
import { loadPack, offerOf, openPackFolder } from './pack-folder.ts';

export interface LoadedNodes extends NodeFolders {
  readonly documentOf?: (node: NodeDefinition) => NodeTypeDocument;
}

type PackSource = Extract<NodeSource, { kind: 'packs' }>;

/** Node types of all installed packs. One that cannot be trusted, or does not fit the host, is a reason to serve none. Throws PackError. */
export async function loadPackNodes({
  folder: path,
  tenant,
  capabilities,
  allowEgress,
}: PackSource): Promise<LoadedNodes> {
  const folder = await openPackFolder(path, '.');
  const offer = await offerOf(folder);
  const goOut = () => hostFetch(allowEgress, tenant);
  const threads = createWasmThreads(availableParallelism());
  const nodes: FoundNode[] = [];
  const documents = new Map<NodeDefinition, NodeTypeDocument>();
  const owners = new Map<string, string>();
  for (const entry of folder.packs) {
    const pack = await loadPack(folder, entry, { ...offer, capabilities });
    if (pack.manifest.nodes.length === 0) continue;
    const perform =
      pack.manifest.runtime.language === 'javascript'
        ? inJavaScript(await openJavaScriptPack(pack, { fetch: await goOut() }))
        : inWasm(await openWasmPack(pack, threads), tenant);
    for (const node of pack.manifest.nodes) {
      const owner = `${entry.name} ${entry.version}`;
      refuseTwice(owners, node, owner);
      const document = documentOf(node, pack);
      const definition = { ...document, inputs: {}, outputs: {}, run: perform(node) };
      documents.set(definition, document);
      nodes.push({ definition, file: owner });
    }
  }
  return {
    nodes,
    files: [],
    warnings: folder.packs.length === 0 ? [`${path} has no packs. Install one: weft pack install FILE`] : [],
    documentOf(node) {
      const document = documents.get(node);
      if (document === undefined) throw new Error(`${node.typeId} is of no pack`);
      return document;
    },
  };
}

function refuseTwice(owners: Map<string, string>, { typeId, version }: PackNode, owner: string): void {
  const id = `${typeId} ${version}`;
  const other = owners.get(id);
  if (other !== undefined)
    throw new PackError(
      'pack_dependency_conflict',
      `${other} and ${owner} both define ${id}. Remove one of them.`,
    );
  owners.set(id, owner);
}

const ANY = { type: 'object', properties: {}, additionalProperties: true };

function documentOf(node: PackNode, { files }: OpenedPack): NodeTypeDocument {
  const { typeId, version, label, description, category, role, requiresSecrets } = node;
  const { config, inputs = ANY, outputs = ANY } = schemasOf(node, files);
  return {
    typeId,
    version,
    category,
    role,
    inputs,
    outputs,
    ...(label !== undefined && { title: label }),
    ...(description !== undefined && { summary: description }),
    ...(config !== undefined && { config }),
    ...(requiresSecrets !== undefined && { secrets: requiresSecrets.map(({ id }) => id) }),
  };
}

type Performer = (node: PackNode) => NodeDefinition['run'];

function inWasm(wasm: WasmPack, tenantId: string): Performer {
  return ({ typeId }) =>
    async ({ inputs, config, runId, nodeId, attempt, invocationId, signal, log }) => {
      const nodeContext = { runId, nodeId, tenantId, attempt, configurable: {}, agent: null, config };
      const call = {
        typeId,
        request: JSON.stringify({ abiVersion: 1, nodeContext, inputs }),
        nowMs: Date.now(),
        seed: [runId, nodeId, invocationId, attempt].join('\n'),
      };
      const outcome = await wasm.invoke(call, signal);
      for (const [level, message] of outcome.logs) log(level, message);
      if (outcome.error === undefined) return outcome.outputs;
      const { code, message, details } = outcome.error;
      throw new NodeError(code, message, { details });
    };
}

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];

function inJavaScript(pack: JavaScriptPack): Performer {
  return ({ typeId }) =>
    async ({ signal, emit, heartbeat, log, ...context }) => {
      const outcome = await pack.invoke({
        typeId,
        context,
        signal,
        onEmit: emit,
        onHeartbeat(details) {
          // An attempt learns from its signal that it is to stop.
          if (!signal.aborted) heartbeat(details);
        },
        onLog: (level, message) => log(LEVELS.includes(level) ? (level as LogLevel) : 'info', message),
      });
      if (outcome.error === undefined) return outcome.outputs;
      const { code, message, ...options } = outcome.error;
      throw new NodeError(code, message, options);
    };
}
