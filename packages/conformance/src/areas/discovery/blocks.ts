import { isJsonObject, type Json } from '@weft/protocol';
import { advertised, experimentalBlocks, mcpSlots } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Expectations } from '../../suite/expectations.ts';
import { isText, isTextList, isWhole } from '../../suite/json-shapes.ts';
import { askDiscovery, expectDistinctTexts, readDiscovery } from './document.ts';

/** What a member must be where it is present. */
interface Shape {
  readonly path: string;
  readonly says: string;
  readonly fits: (value: Json) => boolean;
}

const TRANSPORTS = ['rest', 'mcp', 'a2a', 'grpc'];
const MASKING_MODES = ['mask', 'omit', 'hash', 'passthrough'];
const COMPLIANCE_CLASSES = ['public', 'pii', 'phi', 'pci', 'regulated'];
const SECRET_SCOPES = ['tenant', 'user', 'run', 'workspace'];
const POLICY_MODES = ['disabled', 'optional', 'required', 'restricted'];
const CROSS_REGION = ['single-region', 'best-effort', 'strict', 'reconciled-records', 'fenced-effects'];
const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;

const HOST_SHAPES: readonly Shape[] = [
  {
    path: 'implementation',
    says: 'an object with the texts name and version',
    fits: (value) => isJsonObject(value) && isText(value['name']) && isText(value['version']),
  },
  { path: 'minClientVersion', says: 'a text', fits: isText },
  { path: 'supportedTransports', says: `a list of ${TRANSPORTS.join(', ')}`, fits: listOf(TRANSPORTS) },
  { path: 'extensions', says: 'an object', fits: isJsonObject },
];

const LIMIT_SHAPES: readonly Shape[] = [
  atLeast('limits.maxNodeExecutions', 1),
  atLeast('limits.maxRunDurationMs', 1_000),
  atLeast('limits.maxLoopIterations', 1),
  atLeast('limits.maxBudgetTokens', 1),
  atLeast('limits.maxRequestBodyBytes', 1),
  {
    path: 'limits.maxBudgetCostUsd',
    says: 'a number of 0 or more',
    fits: (value) => typeof value === 'number' && value >= 0,
  },
];

const BLOCK_SHAPES: readonly Shape[] = [
  { path: 'compliance.defaultMode', says: MASKING_MODES.join(' or '), fits: oneOf(MASKING_MODES) },
  {
    path: 'compliance.supportedClasses',
    says: `a list of ${COMPLIANCE_CLASSES.join(', ')}`,
    fits: listOf(COMPLIANCE_CLASSES),
  },
  {
    path: 'configurable',
    says: 'an object whose members are objects',
    fits: (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  },
  atLeast('httpClient.maxResponseBodyBytes', 1),
  { path: 'testing.mockProviders', says: 'a list of texts', fits: (value) => isTextList(value) },
  {
    path: 'testing.testKeyPrefix',
    says: 'a text of at most 32 characters',
    fits: (value) => typeof value === 'string' && value.length <= 32,
  },
  atLeast('production.backpressure.inflightCap', 1),
  {
    path: 'production.backpressure.retryAfterSeconds',
    says: `a whole number from 0 to ${DAY_SECONDS}`,
    fits: (value) => isWhole(value, 0) && value <= DAY_SECONDS,
  },
  atLeast('production.retention.minWindowSeconds', WEEK_SECONDS),
];

/** Families whose block has the boolean `supported`. */
const SWITCHED_FAMILIES = [
  'a2a',
  'agents',
  'agents.deployment',
  'agents.evalSuite',
  'agents.manifestRuntime',
  'agents.orgChart',
  'agents.roster',
  'authorization',
  'budget',
  'content',
  'credentials',
  'deadLetter',
  'debugBundle',
  'dispatch',
  'feedback',
  'grpc',
  'heartbeat',
  'httpClient',
  'i18n',
  'idempotency',
  'mcp',
  'memory',
  'multiAgent.executionModel',
  'nodePackRuntimes.wasm',
  'oauth',
  'orchestrator',
  'production',
  'prompts',
  'queueBus',
  'replay',
  'runs.pauseResume',
  'sandbox',
  'scheduling',
  'secrets',
  'toolCatalog',
  'triggerBridge',
  'webhooks',
  'workspace',
];

export const BLOCK_CHECKS: readonly Check[] = [
  {
    id: 'discovery/host-members',
    title: 'optional members that describe the host have their types',
    proves: ['DISC-15'],
    run: (context) => expectShapes(context, HOST_SHAPES),
  },
  {
    id: 'discovery/limits',
    title: 'optional limits are numbers in their ranges',
    proves: ['DISC-16'],
    run: (context) => expectShapes(context, LIMIT_SHAPES),
  },
  {
    id: 'discovery/acknowledgement-timeout',
    title: 'an advertised idempotencyAckTimeoutSec is at least 5',
    proves: ['DISC-17'],
    run: (context) => expectShapes(context, [atLeast('limits.idempotencyAckTimeoutSec', 5)]),
  },
  {
    id: 'discovery/supported-flags',
    title: 'whether a family is supported is said with a boolean',
    proves: ['DISC-22', 'DISC-33'],
    run: (context) =>
      expectShapes(
        context,
        SWITCHED_FAMILIES.map((family) => ({
          path: `${family}.supported`,
          says: 'true or false',
          fits: (value) => typeof value === 'boolean',
        })),
      ),
  },
  {
    id: 'discovery/blocks',
    title: 'members of optional blocks have the types that the protocol gives them',
    proves: ['DISC-34'],
    run: (context) => expectShapes(context, BLOCK_SHAPES),
  },
  {
    id: 'discovery/fixtures-list',
    title: 'fixtures is a list of names, each once',
    proves: ['DISC-19'],
    async run(context) {
      const discovery = await readDiscovery(context);

      expectDistinctTexts(context.expect, discovery['fixtures'], 'fixtures');
    },
  },
  {
    id: 'discovery/runtime-capabilities',
    title: 'runtimeCapabilities is a list of names, each once',
    proves: ['DISC-21'],
    async run(context) {
      const discovery = await readDiscovery(context);
      const list = advertised(discovery, 'runtimeCapabilities');

      if (list !== undefined) expectDistinctTexts(context.expect, list, 'runtimeCapabilities');
    },
  },
  {
    id: 'discovery/secrets',
    title: 'a host with secrets says for which scopes, and that it manages them',
    proves: ['DISC-23'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);

      const scopes = expectDistinctTexts(expect, advertised(discovery, 'secrets.scopes'), 'secrets.scopes');
      expect.that(scopes.length > 0, 'secrets.scopes has at least one scope', scopes);
      const strange = scopes.filter((scope) => !SECRET_SCOPES.includes(scope));
      expect.equal(strange, [], 'every scope of secrets is a scope of the protocol');
      expect.equal(
        advertised(discovery, 'secrets.resolution'),
        'host-managed',
        'secrets.resolution is host-managed',
      );
    },
  },
  {
    id: 'discovery/ai-providers',
    title: 'providers that take a key of the caller are among the supported ones',
    proves: ['DISC-24'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const supported = advertised(discovery, 'aiProviders.supported');
      const byok = advertised(discovery, 'aiProviders.byok');

      const known =
        supported === undefined ? [] : expectDistinctTexts(expect, supported, 'aiProviders.supported');
      const own = byok === undefined ? [] : expectDistinctTexts(expect, byok, 'aiProviders.byok');
      const strange = own.filter((provider) => !known.includes(provider));
      expect.equal(strange, [], 'every provider in aiProviders.byok is in aiProviders.supported');
    },
  },
  {
    id: 'discovery/ai-policies',
    title: 'policies for providers have modes and scopes of the protocol',
    proves: ['DISC-25', 'DISC-26', 'DISC-27'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);

      const block = advertised(discovery, 'aiProviders.policies');
      const policies = expect.object(block, 'aiProviders.policies is an object');
      const modes = expectDistinctTexts(expect, policies['modes'], 'aiProviders.policies.modes');
      const strange = modes.filter((mode) => !POLICY_MODES.includes(mode));
      expect.equal(strange, [], `every policy mode is one of ${POLICY_MODES.join(', ')}`);
      expect.that(
        !modes.includes('restricted') || modes.includes('optional'),
        'a host with the policy mode restricted has optional too',
        modes,
      );
      const { scopes, errorCode } = policies;
      if (scopes !== undefined) expectDistinctTexts(expect, scopes, 'aiProviders.policies.scopes');
      if (errorCode !== undefined) expect.string(errorCode, 'aiProviders.policies.errorCode is a text');
    },
  },
  {
    id: 'discovery/mcp-slot',
    title: 'an mcp block says whether and where MCP is served',
    proves: ['DISC-28'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);

      for (const slot of mcpSlots(discovery)) {
        const mcp = expect.object(slot, 'an mcp block is an object');
        const { supported, serverUrls, serverMount } = mcp;
        expect.that(typeof supported === 'boolean', 'mcp.supported is true or false', supported ?? 'nothing');
        if (supported !== true) continue;
        expect.that(
          serverUrls !== undefined || isJsonObject(serverMount),
          'a supported mcp says where: by serverUrls or serverMount',
          mcp,
        );
        if (serverUrls !== undefined) expectServerUrls(expect, serverUrls);
      }
    },
  },
  {
    id: 'discovery/cross-region',
    title: 'what is said about idempotency across regions is of the protocol',
    proves: ['DISC-31', 'DISC-32'],
    run: (context) =>
      expectShapes(context, [
        { path: 'idempotency.crossRegion', says: CROSS_REGION.join(' or '), fits: oneOf(CROSS_REGION) },
        atLeast('idempotency.layer1RetentionSeconds', DAY_SECONDS),
        atLeast('idempotency.layer2RetentionSeconds', 1),
        {
          path: 'idempotency.multiRegion.replicationLagBoundMs',
          says: 'a whole number from 0 to 60000',
          fits: (value) => isWhole(value, 0) && value <= 60_000,
        },
      ]),
  },
  {
    id: 'discovery/experimental',
    title: 'an experimental block says until when it is one',
    proves: ['DISC-35'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const today = new Date().toISOString().slice(0, 10);
      const inAYear = new Date(Date.now() + 367 * DAY_SECONDS * 1_000).toISOString().slice(0, 10);

      for (const { experimentalUntil } of experimentalBlocks(discovery)) {
        const until = expect.string(experimentalUntil, 'an experimental block has experimentalUntil');
        expect.that(
          /^\d{4}-\d{2}-\d{2}$/.test(until),
          'experimentalUntil is a date such as 2030-01-31',
          until,
        );
        expect.that(until >= today && until <= inAYear, 'experimentalUntil is within the next year', until);
      }
    },
  },
  {
    id: 'discovery/auth-scoped',
    title: 'discovery that depends on the caller shows an anonymous one no more than others',
    proves: ['DISC-36', 'DISC-37'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);
      const scoped = expect.object(advertised(discovery, 'discovery.authScoped'), 'authScoped is an object');
      const { mode = 'same-endpoint', endpointPath } = scoped;

      const modes = ['same-endpoint', 'extension-endpoint'];
      expect.that(oneOf(modes)(mode), `authScoped.mode is ${modes.join(' or ')}`, mode);
      const path = mode === 'extension-endpoint' ? expect.string(endpointPath, 'endpointPath is a text') : '';
      expect.that(path === '' || path.startsWith('/'), 'endpointPath begins with a slash', path);
      const own = await (path === '' ? askDiscovery(context, {}) : context.host.request('GET', path));
      expect.status(own, 200);
      const wide = expect.object(own.json, 'scoped discovery is a JSON object');
      const hidden = Object.keys(discovery).filter((name) => wide[name] === undefined);
      expect.equal(hidden, [], 'an authorized caller sees every member that an anonymous one sees');
    },
  },
];

async function expectShapes(context: CheckContext, shapes: readonly Shape[]): Promise<void> {
  const discovery = await readDiscovery(context);
  for (const { path, says, fits } of shapes) {
    const value = advertised(discovery, path);
    if (value !== undefined) context.expect.that(fits(value), `${path} is ${says}`, value);
  }
}

function expectServerUrls(expect: Expectations, value: Json): void {
  const urls = expectDistinctTexts(expect, value, 'mcp.serverUrls');
  expect.that(urls.length > 0, 'mcp.serverUrls is not empty', urls);
  const strange = urls.filter((url) => !/^(?:\/|https?:\/\/)/.test(url));
  expect.equal(strange, [], 'every entry of mcp.serverUrls is a path or an http(s) address');
}

function atLeast(path: string, least: number): Shape {
  return { path, says: `a whole number of ${least} or more`, fits: (value) => isWhole(value, least) };
}

function oneOf(allowed: readonly string[]): (value: Json) => boolean {
  return (value) => typeof value === 'string' && allowed.includes(value);
}

function listOf(allowed: readonly string[]): (value: Json) => boolean {
  return (value) => Array.isArray(value) && value.every(oneOf(allowed));
}
