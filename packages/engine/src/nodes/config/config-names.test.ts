import { compileValidator } from '@weft/protocol';
import { sampleWith, textFields } from '@weft/protocol/schema-samples';
import { describe, expect, it } from 'vitest';
import type { NodeType } from '../../model/node-type.ts';
import { BUILTIN_NODE_TYPES } from '../index.ts';
import { CONFORMANCE_ONLY } from '../../conformance/index.ts';
import { memoryProbe } from '../../conformance/memory-probe.ts';

/** What in a node's config may be any text: prompts and messages, expressions, values. Everything else is a name. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  'conformance.cost.emit': ['/attrs/*'],
  'core.ai.callPrompt': [
    '/prompt',
    '/system',
    '/examples/0/user',
    '/examples/0/assistant',
    '/outputSchema/*',
    '/mcp/arguments/*',
  ],
  'core.approvalGate': ['/title', '/description', '/artifactData'],
  'core.channelWrite': ['/value'],
  'core.clarificationGate': ['/questions/0/question', '/questions/0/schema/*'],
  'core.conditional': ['/condition', '/condition/left', '/condition/right', '/condition/expression'],
  'core.conformance.mock-agent': [
    '/mockReasoning/summary',
    '/mockReasoning/trace',
    '/mockReasoning/streamChunks/0',
    '/mockToolCalls/0/arguments',
    '/mockToolCalls/0/result',
    '/mockToolCalls/0/error/*',
    '/mockHandoff/reason',
    '/mockHandoff/context',
    '/mockDecision/decision',
    '/mockDecision/reasoning',
  ],
  'core.conversationGate': ['/prompt', '/title', '/schema/*'],
  'core.fail': ['/message'],
  'core.getVariable': ['/default'],
  'core.http.request': ['/headers/member', '/body'],
  'core.interrupt': ['/data/*', '/resumeSchema/*'],
  'core.a2a.invoke': ['/input'],
  'core.mcp.toolCall': ['/arguments/*'],
  'core.loop': ['/items', '/items/0', '/while'],
  'core.orchestrator.supervisor': [
    '/decide',
    '/decideByModel/instructions',
    '/decideByModel/prompt',
    '/decideByModel/workers/0/description',
    ...['/mockDecisions/0', '/mockDispatchPlan/0', '/mockPendingDecision'].flatMap((at) => [
      `${at}/prompt`,
      `${at}/reason`,
    ]),
  ],
  'core.setVariable': ['/value', '/expression'],
  'weft.ai.agent': ['/instructions', '/prompt', '/stopWhen', '/outputSchema/*'],
  'weft.memory.write': ['/content'],
};

const REFUSED = ['\u0000', '\u001b]0;x\u0007', '\u007f', '\u009b', '\u202e', '\u2069', '\ud800', 'a\nb'];

const types: readonly (readonly [string, NodeType])[] = [
  ...BUILTIN_NODE_TYPES,
  ...CONFORMANCE_ONLY,
  memoryProbe,
].map((type) => [`${type.typeId} (${type.title})`, type]);

describe('the config of a node', () => {
  it.each(types)('holds names, and texts that were chosen to be free: %s', (_, { typeId, config }) => {
    const free = FREE[typeId] ?? [];
    const undecided = textFields(config)
      .filter(({ kind }) => kind === 'text' || kind === 'key' || kind === 'json')
      .filter(({ path }) => !free.includes(path) && !free.includes(path.replace(/\/member$/, '/*')))
      .map(({ path, kind }) => `${path} (${kind})`);

    expect(undecided).toEqual([]);
  });

  it.each(types)('is refused with the place of a name that is none: %s', (_, { config }) => {
    const validate = compileValidator(config);

    for (const field of textFields(config).filter(({ kind }) => kind === 'name')) {
      expect(validate(sampleWith(config, field, 'plain')), field.path).toEqual([]);
      for (const text of REFUSED) {
        const place = field.isKey ? field.path.replace(/member$/, () => text) : field.path;
        const found = validate(sampleWith(config, field, text)).map(({ path }) => path);
        expect(found, `${field.path} ${JSON.stringify(text)}`).toContain(place);
      }
    }
  });
});
