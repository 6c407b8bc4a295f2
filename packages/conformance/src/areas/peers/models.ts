import type { Json, JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext, PolicyProviders } from '../../suite/check.ts';
import { errorOf, ofType, payloadOf } from '../events/log.ts';

const PROMPT = 'conformance-stream-text';
const TOOL = 'conformance-mcp-tool-roundtrip';
const CREDENTIAL_CODES = [
  'credential_required',
  'credential_not_found',
  'credential_unavailable',
  'credential_forbidden',
];

/** How a run ends that asks this provider. */
async function asking({ runs }: CheckContext, options: JsonObject): Promise<JsonObject> {
  const runId = await runs.create(PROMPT, { configurable: options });
  return runs.ended(runId);
}

/** The code of a failed run, and its details. */
function failureOf({ expect }: CheckContext, snapshot: JsonObject): JsonObject {
  expect.equal(snapshot['status'], 'failed', 'a call that is not allowed fails its run');
  return errorOf(snapshot);
}

/** Modes in which a call is denied, and with what reason. */
const DENIALS: Readonly<Record<'disabled' | 'required' | 'restricted', string>> = {
  disabled: 'provider_disabled',
  required: 'byok_required',
  restricted: 'model_not_allowed',
};

export const MODEL_CHECKS: readonly Check[] = [
  {
    id: 'peers/unknown-provider',
    title: 'a run that names a provider which the host does not have is not created',
    proves: ['PEER-11'],
    needs: { fixtures: [PROMPT] },
    async run({ runs, expect, unique }) {
      const configurable = { 'ai.provider': unique('no-such-provider') };

      const answer = await runs.tryCreate(PROMPT, { configurable });

      expect.envelope(answer, { status: [400, 404, 422] });
    },
  },
  {
    id: 'peers/unknown-credential',
    title: 'a credential that the tenant does not have fails the run with a code of its own',
    proves: ['PEER-24'],
    needs: { fixtures: [PROMPT] },
    async run(context) {
      const { discovery, expect, unique, notApplicable } = context;
      const byok = advertised(discovery, 'aiProviders.byok');
      const [provider] = Array.isArray(byok) ? byok : [];
      if (typeof provider !== 'string') return notApplicable('no provider takes credentials of runs');
      const credential = unique('no-such-credential');

      const snapshot = await asking(context, {
        'ai.provider': provider,
        'ai.model': 'any',
        'ai.credentialRef': credential,
      });

      const { code } = failureOf(context, snapshot);
      expect.that(
        CREDENTIAL_CODES.includes(String(code)) || code === policyCode(discovery),
        `the code is one of ${CREDENTIAL_CODES.join(', ')}, or that of the policy`,
        code ?? 'nothing',
      );
    },
  },
  {
    id: 'peers/policy-denials',
    title: 'a policy denies before every call, with a reason and never with itself',
    proves: ['PEER-12'],
    needs: { fixtures: [PROMPT], policies: true },
    async run(context) {
      const { discovery, expect, policies } = context;
      for (const [mode, reason] of Object.entries(DENIALS)) {
        const provider = policies[mode as keyof PolicyProviders] ?? '';

        const snapshot = await asking(context, { 'ai.provider': provider, 'ai.model': 'any' });

        const { code, details, message } = failureOf(context, snapshot);
        expect.equal(
          code,
          policyCode(discovery),
          `a call under ${mode} is denied with the code of the policy`,
        );
        const denial = expect.object(details, 'a denial has details');
        expect.equal(denial['provider'], provider, 'the details name the provider');
        expect.equal(denial['reason'], reason, `the reason under ${mode} is ${reason}`);
        expect.that(
          !/allowedModels|allowlist/i.test(JSON.stringify([denial, message ?? null])),
          'a denial does not tell the policy',
          denial,
        );
      }
    },
  },
  {
    id: 'peers/policy-allows',
    title: 'under the policy optional a model may be asked',
    proves: ['PEER-12'],
    needs: { fixtures: [PROMPT], policies: true },
    async run(context) {
      const { expect, policies } = context;

      const snapshot = await asking(context, {
        'ai.provider': policies.optional ?? '',
        'ai.model': 'any',
      });

      expect.equal(snapshot['status'], 'completed', 'a call under optional is made');
    },
  },
];

export const MCP_CHECKS: readonly Check[] = [
  {
    id: 'peers/mcp-roundtrip',
    title: 'a node calls a tool of an MCP server, and the log names the tool',
    proves: ['PEER-6', 'PEER-8'],
    needs: { fixtures: [TOOL], peer: 'mcp' },
    async run({ runs, expect, peers }) {
      const before = peers.mcp?.calls.length ?? 0;
      const runId = await runs.create(TOOL);

      const snapshot = await runs.ended(runId);

      expect.equal(snapshot['status'], 'completed', 'a run that calls a tool completes');
      // Another check may call it at the same time.
      const calls = peers.mcp?.calls.slice(before) ?? [];
      const [call = {}] = calls;
      expect.equal(call, { text: 'roundtrip-probe' }, 'the tool is called with the arguments of the node');
      const events = await runs.events(runId);
      const [called] = ofType(events, 'agent.toolCalled');
      const [returned] = ofType(events, 'agent.toolReturned');
      const named = [payloadOf(called), payloadOf(returned)];
      for (const { toolName } of named)
        expect.that(/\becho$/.test(String(toolName)), 'the log names the tool echo', toolName ?? 'nothing');
      const [first, second] = named.map(({ callId }) => callId ?? null);
      expect.string(first, 'agent.toolCalled has a callId');
      expect.equal(second, first, 'what returns has the callId of the call');
      const answers = ofType(events, 'interrupt.resolved');
      expect.equal(answers, [], 'the result of a tool answers no interrupt');
    },
  },
];

function policyCode(discovery: JsonObject): Json {
  const code = advertised(discovery, 'aiProviders.policies.errorCode');
  return typeof code === 'string' ? code : 'provider_policy_denied';
}
