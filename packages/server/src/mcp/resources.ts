import type { JsonObject, OperationId } from '@weft/protocol';
import type { AppContext } from '../app-context.ts';
import { type Caller, renderDiff } from '@weft/engine';
import type { Place } from '../protocols/perform-operation.ts';

/** Runs, comparisons, bundles and definitions as documents that a client can read. */
export interface ResourceSession {
  readonly context: AppContext;
  perform(operationId: OperationId, place: Place): Promise<JsonObject>;
  admit(operationId: OperationId): Promise<Caller>;
  readonly ended: AbortSignal;
}

export interface ResourceText {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

export class UnknownResource extends Error {}

interface Template {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly matches: RegExp;
  read(session: ResourceSession, parts: readonly string[]): Promise<string | undefined>;
}

/** A document that a model is to read whole. */
const MAX_CHARACTERS = 1_000_000;
const RECENT_RUNS = 50;

const TEMPLATES: readonly Template[] = [
  {
    uriTemplate: 'weft://workflows/{workflowId}',
    name: 'workflow',
    description: 'The definition of a workflow, as it would run now.',
    matches: /^weft:\/\/workflows\/([^/]+)$/,
    read: async (session, [workflowId = '']) =>
      JSON.stringify(await session.perform('getWorkflow', { params: { workflowId } })),
  },
  {
    uriTemplate: 'weft://runs/{runId}',
    name: 'run',
    description: 'How a run stands: status, nodes, variables, error.',
    matches: /^weft:\/\/runs\/([^/]+)$/,
    async read(session, [runId = '']) {
      const {
        interrupt,
        interrupts: _all,
        ...snapshot
      } = await session.perform('getRun', { params: { runId } });
      return JSON.stringify({ ...snapshot, isWaitingForAnswer: interrupt !== undefined });
    },
  },
  {
    uriTemplate: 'weft://runs/{runId}/bundle',
    name: 'debug bundle',
    description: 'A run with its log, to be carried elsewhere, replayed and compared.',
    matches: /^weft:\/\/runs\/([^/]+)\/bundle$/,
    async read({ context, admit }, [runId = '']) {
      const pieces = await context.host.bundles.text(await admit('getDebugBundle'), runId);
      return pieces && joined(pieces);
    },
  },
  {
    uriTemplate: 'weft://runs/{runId}/diff/{against}',
    name: 'difference of two runs',
    description: 'Where two runs differ, event by event, and how they ended.',
    matches: /^weft:\/\/runs\/([^/]+)\/diff\/([^/]+)$/,
    async read({ context, admit, ended }, [runId = '', against = '']) {
      const caller = await admit('diffRun');
      const diff = await context.host.runs.diff(caller, runId, against, ended);
      return diff && joined(renderDiff(diff));
    },
  },
];

export const RESOURCE_TEMPLATES = TEMPLATES.map(({ uriTemplate, name, description }) => ({
  uriTemplate,
  name,
  description,
  mimeType: 'application/json',
}));

export async function listResources({
  context,
  admit,
  ended,
}: ResourceSession): Promise<{ readonly uri: string; readonly name: string; readonly mimeType: string }[]> {
  const workflows = await context.host.workflows.list(await admit('listWorkflows'), { limit: RECENT_RUNS });
  const runs = await context.host.runs.list(await admit('listRuns'), {}, { limit: RECENT_RUNS }, ended);
  return [
    ...workflows.rows
      .filter(({ current }) => current)
      .map(({ id, name }) => resource(`weft://workflows/${encodeURIComponent(id)}`, `Workflow: ${name}`)),
    ...runs.rows.map(({ runId, workflowId, status }) =>
      resource(`weft://runs/${runId}`, `Run of ${workflowId}: ${status}`),
    ),
  ];
}

function resource(uri: string, name: string): { uri: string; name: string; mimeType: string } {
  return { uri, name, mimeType: 'application/json' };
}

export async function readResource(session: ResourceSession, uri: string): Promise<ResourceText> {
  for (const { matches, read } of TEMPLATES) {
    const found = matches.exec(uri);
    if (found === null) continue;
    const text = await read(session, found.slice(1).map(decoded));
    if (text === undefined) break;
    return { uri, mimeType: 'application/json', text };
  }
  throw new UnknownResource(`There is no resource ${uri}; resources/templates/list says what there can be.`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > MAX_CHARACTERS)
      throw new UnknownResource(
        'The document is too large to be read here: download it over HTTP, or with `weft bundle`.',
      );
  }
  return text;
}
