import { availableParallelism } from 'node:os';
import {
  createWasmThreads,
  type JavaScriptPack,
  type OpenedPack,
  openJavaScriptPack,
  type ModuleCall,
  openWasmPack,
  PackError,
  type PackNode,
  type RunFacility,
  schemasOf,
  type WasmPack,
  type WasmWrites,
} from '@weft/packs';
import type { JsonObject, NodeTypeDocument } from '@weft/protocol/plain';
import { type LogLevel, type NodeContext, type NodeDefinition, NodeEnd, NodeError } from '@weft/sdk/nodes';
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
  const threads = createWasmThreads(Math.max(4, 2 * availableParallelism()));
  const nodes: FoundNode[] = [];
  const documents = new Map<NodeDefinition, NodeTypeDocument>();
  const owners = new Map<string, string>();
  for (const entry of folder.packs) {
    const pack = await loadPack(folder, entry, { ...offer, capabilities });
    if (pack.manifest.nodes.length === 0) continue;
    const { perform, usesOf } =
      pack.manifest.runtime.language === 'javascript'
        ? inJavaScript(await openJavaScriptPack(pack, { fetch: await goOut() }))
        : inWasm(await openWasmPack(pack, threads), tenant);
    for (const node of pack.manifest.nodes) {
      const owner = `${entry.name} ${entry.version}`;
      refuseTwice(owners, node, owner);
      const document = documentOf(node, pack, usesOf(node));
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

function documentOf(node: PackNode, { files }: OpenedPack, uses: readonly RunFacility[]): NodeTypeDocument {
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
    ...(uses.length > 0 && { uses: [...uses] }),
  };
}

interface Performer {
  readonly perform: (node: PackNode) => NodeDefinition['run'];
  readonly usesOf: (node: PackNode) => readonly RunFacility[];
}

/** Roles of nodes that may ask people by their answer, though their module does not import the question. */
const ASKING_ROLES: readonly string[] = ['human-input', 'gate'];

function inWasm(wasm: WasmPack, tenantId: string): Performer {
  const usesOf = ({ role }: PackNode): readonly RunFacility[] =>
    ASKING_ROLES.includes(role) ? [...new Set([...wasm.uses, 'questions' as const])] : wasm.uses;
  return {
    usesOf,
    perform: (node) => {
      const mayAsk = usesOf(node).includes('questions');
      return async (context) => {
        const { call, record } = callOf(node.typeId, context, tenantId);
        const outcome = await wasm.invoke(call, context.signal);
        for (const [level, message] of outcome.logs) context.log(level, message);
        if ('ask' in outcome && mayAsk) return new NodeEnd({ ask: outcome.ask, record });
        if ('ask' in outcome) throw new NodeError('wasm_suspend_not_implemented', NOT_ASKING);
        if (outcome.error === undefined) return endOf(outcome);
        const { code, message, details } = outcome.error;
        throw new NodeError(code, message, { details });
      };
    },
  };
}

const NOT_ASKING =
  'The module asks people by its answer, and neither imports openwop_interrupt nor has the role human-input or gate in its manifest: the host cannot wait for it.';

/** A call and what the next call of the same node is to know: all calls get the same time and the same random bytes. */
function callOf(
  typeId: string,
  context: NodeContext,
  tenantId: string,
): { call: ModuleCall; record: JsonObject } {
  const { inputs, config, runId, nodeId, attempt, invocationId, run } = context;
  const { nowMs = Date.now(), seed = [runId, nodeId, invocationId, attempt].join('\n') } = run?.record ?? {};
  const answers = run?.answers ?? [];
  const resumed = answers.length > 0 && { resumeValue: answers.at(-1), answers };
  const nodeContext = { runId, nodeId, tenantId, attempt, configurable: {}, agent: null, config, ...resumed };
  const request = JSON.stringify({ abiVersion: 1, nodeContext, inputs });
  return {
    call: { typeId, request, nowMs: Number(nowMs), seed: String(seed), run },
    record: { nowMs, seed },
  };
}

function endOf({ outputs, writes }: { readonly outputs: JsonObject; readonly writes: WasmWrites }): object {
  const variables = Object.keys(writes.variables).length > 0 && { variables: { ...writes.variables } };
  const channels = writes.channels.length > 0 && { channels: [...writes.channels] };
  return variables || channels ? new NodeEnd({ outputs, ...variables, ...channels }) : outputs;
}

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];

function inJavaScript(pack: JavaScriptPack): Performer {
  return {
    usesOf: () => [],
    perform:
      ({ typeId }) =>
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
      },
  };
}
