import type { ToolServerDocument } from '@weft/protocol';
import type { Caller, ToolServers } from '../../host/host.ts';
import { type Egress, NodeFailure } from '../../model/node-type.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import type { Tool, ToolContext, Tools } from '../../ports/tools.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { defaultServer } from '../../nodes/tools/tool-call.ts';
import { openSecrets } from '../effects/open-effect-ports.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

export interface ToolServerDependencies {
  readonly tools: Tools;
  readonly egress: Egress;
  readonly resolver: SecretResolver;
  /** The tenant whose secrets are the operator's. */
  readonly operator: string;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: RandomBytes;
}

/** No one waits longer for an answer over HTTP. */
const PATIENCE_MS = 120_000;

export function createToolServers(dependencies: ToolServerDependencies): ToolServers {
  const { tools, operator, committer, clock, random } = dependencies;

  function describe(caller: Caller, server: string): ToolServerDocument {
    const status = tools.status?.(server);
    if (status === undefined) return { name: server, transport: 'stdio', state: 'idle' };
    return {
      name: server,
      transport: status.transport,
      state: status.state,
      ...(status.serverName !== undefined && { serverName: status.serverName }),
      ...(status.problem !== undefined && caller.tenant === operator && { problem: status.problem }),
      ...(status.tools !== undefined && { tools: status.tools.map(describeTool) }),
      ...(status.leftOut !== undefined && status.leftOut.length > 0 && { leftOut: [...status.leftOut] }),
    };
  }

  async function timed<Result>(work: (context: ToolContext) => Promise<Result>) {
    const began = performance.now();
    const took = () => Math.round(performance.now() - began);
    try {
      return { result: await work(contextOf(dependencies)), tookMs: took() };
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      return { error: { code: error.code, message: error.message }, tookMs: took() };
    }
  }

  return {
    list: (caller) => tools.servers.map((server) => describe(caller, server)),
    async test(caller, server) {
      if (!tools.servers.includes(server)) return undefined;
      const { error, tookMs } = await timed((context) => tools.list(server, context));
      return { server: describe(caller, server), tookMs, ...(error !== undefined && { error }) };
    },
    async call(caller, server, { tool, arguments: given = {} }) {
      if (!tools.servers.includes(server)) return undefined;
      const at = clock.now();
      const audit = [auditOf(caller, { at, action: 'tool.call', target: `${server}/${tool}` })];
      const written = await committer.submit({ kind: 'audit', batchId: randomId(random), audit });
      if (written.state !== 'committed') throw writeFailure(written);
      const { result, error, tookMs } = await timed((context) =>
        tools.call({ server, tool, arguments: given }, context),
      );
      return {
        ...(result !== undefined && { result: { ...result, content: [...result.content] } }),
        ...(error !== undefined && { error }),
        tookMs,
      };
    },
  };
}

/** Whether a tool can be called here without a person. A server that does not answer yet may do so later: a suite starts its own after the host. */
export function createOffersTool(dependencies: ToolServerDependencies): OffersTool {
  const { tools } = dependencies;
  return async ({ server = defaultServer(tools.servers), tool }) => {
    if (server === undefined || !tools.servers.includes(server)) return false;
    try {
      const found = (await tools.list(server, contextOf(dependencies))).find(({ name }) => name === tool);
      return found !== undefined && !(found.needsApproval ?? found.isDestructive);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      return true;
    }
  };
}

export type OffersTool = (wanted: {
  readonly server: string | undefined;
  readonly tool: string;
}) => Promise<boolean>;

function contextOf({ egress, resolver, operator, random }: ToolServerDependencies): ToolContext {
  const secrets = openSecrets(resolver, { tenant: operator, principal: undefined }, () => undefined);
  return {
    signal: AbortSignal.timeout(PATIENCE_MS),
    invocationId: randomId(random),
    egress,
    secrets,
    operatorSecrets: secrets,
    holdsClaim: () => true,
  };
}

function describeTool(tool: Tool): NonNullable<ToolServerDocument['tools']>[number] {
  return {
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    digest: tool.digest,
    readOnly: tool.isReadOnly,
    idempotent: tool.isIdempotent,
    destructive: tool.isDestructive,
    needsApproval: tool.needsApproval ?? tool.isDestructive,
    inputSchema: tool.inputSchema,
  };
}
