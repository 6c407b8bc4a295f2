import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check } from '../../suite/check.ts';
import { objectOf, objectsOf } from '../../suite/json-shapes.ts';
import { openJsonRpc, pathOfOwn } from './json-rpc.ts';

/** Takes a text, so that arguments can be wrong. */
const FIXTURE = 'conformance-idempotent';

const isRefused = ({ error, result }: JsonObject): boolean =>
  objectOf(error)['code'] === -32_602 || objectOf(result)['isError'] === true;

export const MCP_SERVER_CHECKS: readonly Check[] = [
  {
    id: 'peers/mcp-server',
    title: 'a host that serves MCP offers workflows as tools, and checks arguments before it starts a run',
    proves: ['PEER-7'],
    needs: { fixtures: [FIXTURE] },
    async run(context) {
      const { discovery, expect, unique, notApplicable } = context;
      const [url] = expect.array(advertised(discovery, 'mcp.serverUrls'), 'mcp.serverUrls is a list');
      const mcp = openJsonRpc(context, pathOfOwn(String(url)), {}, 'mcp-session-id');
      const { result: hello } = await mcp.ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'weft-conformance', version: '1.0.0' },
      });
      expect.object(objectOf(hello)['serverInfo'], 'initialize is answered with serverInfo');
      await mcp.tell('notifications/initialized');

      const { result } = await mcp.ask('tools/list');

      const tools = objectsOf(objectOf(result)['tools']);
      expect.that(tools.length > 0, 'tools/list has at least one tool', objectOf(result));
      for (const { name, inputSchema } of tools) {
        expect.string(name, 'a tool has a name');
        expect.equal(
          objectOf(inputSchema)['type'],
          'object',
          'the inputSchema of a tool is one of an object',
        );
      }
      const tool = tools.find(({ name }) => String(name).includes(FIXTURE));
      if (tool === undefined) return notApplicable(`the host offers ${FIXTURE} as no tool`);
      const call = (name: unknown, given: JsonObject) =>
        mcp.ask('tools/call', { name: String(name), arguments: given });
      const unknown = await call(unique('no-such-tool'), {});
      expect.that(isRefused(unknown), 'a call of an unknown tool is refused', unknown);
      for (const wrong of [{}, { nonce: 7 }]) {
        const refused = await call(tool['name'], wrong);
        expect.that(isRefused(refused), 'a call with wrong arguments is refused', refused);
        expect.that(
          !JSON.stringify(refused).includes('"runId"'),
          'a call with wrong arguments starts no run',
          refused,
        );
      }
      const { result: called } = await call(tool['name'], { nonce: unique() });
      expect.that(
        objectOf(called)['isError'] !== true && Array.isArray(objectOf(called)['content']),
        'a call with the right arguments runs the workflow',
        called ?? 'nothing',
      );
    },
  },
];
