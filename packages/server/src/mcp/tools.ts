import { compileValidator, type Json, type JsonObject, type OperationId } from '@weft/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import type { Caller } from '@weft/engine';
import {
  argumentProblem,
  type ExposedWorkflow,
  exposedWorkflow,
  exposedWorkflows,
} from '../protocols/exposed-workflows.ts';
import { followRun, type Progress } from './follow-run.ts';
import { OperationRefused, type Place } from '../protocols/perform-operation.ts';
import { type AskedQuestion, questionOf } from '../protocols/question.ts';
import type { AppContext } from '../app-context.ts';

/** What a request of a client comes with. */
export interface ToolSession {
  readonly context: AppContext;
  perform(operationId: OperationId, place: Place): Promise<JsonObject>;
  /** The caller, if its key holds the operation's scope. */
  admit(operationId: OperationId): Promise<Caller>;
  /** Aborted when no one waits for the answer any more. */
  readonly ended: AbortSignal;
  /** The client has cancelled its request, and not only left. */
  isCancelled(): boolean;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Asks the person in front of the client; undefined when the client cannot, or the person would not say. */
  readonly elicit: ((question: AskedQuestion) => Promise<JsonObject | undefined>) | undefined;
}

export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations?: JsonObject;
}

export interface ToolAnswer {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: JsonObject;
  readonly isError: boolean;
}

/** A client gives up on a request after a minute, unless it hears of progress; the run stays, and can be asked for. */
const LONGEST_WAIT_MS = 50_000;
/** Questions of one run that are asked within one call. */
const MAX_QUESTIONS = 20;

const runId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of a run, as an earlier answer gave it.',
});
const waitSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: LONGEST_WAIT_MS / 1000,
    description: 'How long to wait for news. Default 0.',
  }),
);
const closed = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

interface Checked<Schema extends TSchema> {
  readonly schema: Schema;
  readonly problems: ReturnType<typeof compileValidator>;
}

const arguments_ = <Properties extends Record<string, TSchema>>(properties: Properties) => {
  const schema = closed(properties);
  return { schema, problems: compileValidator(schema) };
};

const STATUS = arguments_({ runId, waitSeconds });
const ANSWER = arguments_({
  runId,
  nodeId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 300, description: 'Which question, where several are open.' }),
  ),
  // Some clients take no schema that says nothing.
  answer: Type.Unsafe<Json>({
    anyOf: ['object', 'array', 'string', 'number', 'boolean', 'null'].map((type) => ({ type })),
    description: 'An approval takes {"action": "accept"} or {"action": "reject"}.',
  }),
  waitSeconds,
});

/** Those that are there whatever workflows there are. */
const OWN: Readonly<Record<string, { description: Omit<ToolDescription, 'name'>; call: Called }>> = {
  weft_run_status: {
    description: {
      title: 'Status of a run',
      description: 'How a run stands: its outputs, its error, or the question that it waits for.',
      inputSchema: asJson(STATUS.schema),
      annotations: { readOnlyHint: true },
    },
    async call(session, given) {
      const { runId: id, waitSeconds: seconds = 0 } = checked(STATUS, given);
      return standingOf(session, id, seconds * 1000);
    },
  },
  weft_answer: {
    description: {
      title: 'Answer a run',
      description: 'Answers the question that a run waits for. Only with what the person has decided.',
      inputSchema: asJson(ANSWER.schema),
      annotations: { destructiveHint: true, idempotentHint: true },
    },
    async call(session, given) {
      const { runId: id, nodeId, answer, waitSeconds: seconds = 0 } = checked(ANSWER, given);
      const asked = nodeId ?? questionOf(await session.perform('getRun', { params: { runId: id } }))?.nodeId;
      if (asked === undefined) return refused('interrupt_not_found', `Run ${id} waits for no answer.`);
      await session.perform('resolveInterruptByRun', {
        params: { runId: id, nodeId: asked },
        body: { resumeValue: answer },
      });
      return standingOf(session, id, seconds * 1000);
    },
  },
};

/** As it is sent: a schema of ours is plain data with nothing left out. */
function asJson(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

type Called = (session: ToolSession, given: JsonObject) => Promise<ToolAnswer>;

/** Arguments that do not fit: JSON-RPC's own code says so. */
export class InvalidArguments extends Error {}

export class UnknownTool extends Error {}

export async function listTools(session: ToolSession): Promise<ToolDescription[]> {
  const caller = await session.admit('listWorkflows');
  const own = Object.entries(OWN).map(([name, { description }]) => ({ name, ...description }));
  const exposed = await exposedWorkflows(session.context.host, caller, 'mcp');
  return [
    ...exposed.map(({ name, title, description, inputSchema }) => ({
      name,
      title,
      description,
      inputSchema,
    })),
    ...own,
  ];
}

export async function callTool(session: ToolSession, name: string, given: JsonObject): Promise<ToolAnswer> {
  try {
    if (Object.hasOwn(OWN, name)) return await (OWN[name] as { call: Called }).call(session, given);
    const caller = await session.admit('listWorkflows');
    const tool = await exposedWorkflow(session.context.host, caller, name);
    if (tool === undefined)
      throw new UnknownTool(`This host has no tool "${name}"; tools/list names those it has.`);
    return await startRun(session, tool, given);
  } catch (error) {
    if (error instanceof OperationRefused) return refused(error.code, error.message);
    throw error;
  }
}

async function startRun(
  session: ToolSession,
  tool: ExposedWorkflow,
  inputs: JsonObject,
): Promise<ToolAnswer> {
  const problem = argumentProblem(tool, inputs);
  if (problem !== undefined) throw new InvalidArguments(problem);
  const created = await session.perform('createRun', {
    body: { workflowId: tool.workflowId, inputs, metadata: { startedBy: 'mcp' } },
  });
  return standingOf(session, String(created['runId']), LONGEST_WAIT_MS, true);
}

/** Waits for what there is to say of a run. A run that the call has started ends with the call, if the client cancels that. */
async function standingOf(
  session: ToolSession,
  id: string,
  waitMs: number,
  isOwn = false,
): Promise<ToolAnswer> {
  const { ended, onProgress, context } = session;
  const caller = await session.admit('getRun');
  const until = performance.now() + waitMs;
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const leftMs = until - performance.now();
    const standing = await followRun(
      { host: context.host, caller, signal: ended, waitMs: leftMs, onProgress },
      id,
    );
    if (isOwn && session.isCancelled()) await cancel(session, id);
    // A run that is not there says so here.
    const snapshot = await session.perform('getRun', { params: { runId: id } });
    if (standing?.state !== 'waiting')
      return answerOf(id, snapshot, standing?.state === 'ended' ? standing.end : {});
    if (!(await askPerson(session, id, snapshot))) return answerOf(id, snapshot, {}, questionOf(snapshot));
  }
  return answerOf(id, await session.perform('getRun', { params: { runId: id } }), {});
}

function cancel(session: ToolSession, id: string): Promise<JsonObject> {
  const body = { reason: 'The client cancelled its request.' };
  return session.perform('cancelRun', { params: { runId: id }, body });
}

/** True when someone has answered, or the question has gone meanwhile: then the run has more to say. */
async function askPerson(session: ToolSession, id: string, snapshot: JsonObject): Promise<boolean> {
  const question = questionOf(snapshot);
  if (question === undefined) return true;
  const answer = await session.elicit?.(question);
  if (answer === undefined) return false;
  await session.perform('resolveInterruptByRun', {
    params: { runId: id, nodeId: question.nodeId },
    body: { resumeValue: answer },
  });
  return true;
}

function answerOf(id: string, snapshot: JsonObject, end: JsonObject, question?: AskedQuestion): ToolAnswer {
  const { status, error } = snapshot;
  const structuredContent: JsonObject = {
    runId: id,
    status: status ?? 'unknown',
    ...(end['outputs'] !== undefined && { outputs: end['outputs'] }),
    ...(error !== undefined && { error }),
    ...(question !== undefined && { question: { ...question } }),
    ...(nextStep(String(status), question) !== undefined && {
      next: nextStep(String(status), question) ?? '',
    }),
  };
  return {
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
    isError: status === 'failed' || status === 'cancelled',
  };
}

function nextStep(status: string, question: AskedQuestion | undefined): string | undefined {
  if (question !== undefined)
    return 'Show the question to the person, and send what they decide with weft_answer.';
  if (['completed', 'failed', 'cancelled'].includes(status)) return undefined;
  return 'The run continues by itself; ask for it with weft_run_status.';
}

function refused(code: string, message: string): ToolAnswer {
  const structuredContent = { error: { code, message } };
  return {
    content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    structuredContent,
    isError: true,
  };
}

function checked<Schema extends TSchema>({ problems }: Checked<Schema>, given: JsonObject): Static<Schema> {
  const [problem] = problems(given);
  if (problem !== undefined)
    throw new InvalidArguments(`arguments${problem.path.replaceAll('/', '.')}: ${problem.message}`);
  return given as Static<Schema>;
}
