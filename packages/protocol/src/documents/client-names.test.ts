import { describe, expect, it } from 'vitest';
import { ROUTES } from '../routes/routes.ts';
import { sampleOf, sampleWith, type TextField, textFields } from './schema-samples.ts';
import { compileValidator } from '../validation/validate.ts';

const PROMPT_TEXTS = ['/text', '/description', '/variables/0/defaultValue', '/variables/0/description'];

/**
 * Where clients may send any text, or any JSON. Everything else is a name or has a closed form. A new field that is neither is
 * found by the test below, and its author has to choose.
 */
const FREE: Readonly<Record<string, readonly string[]>> = {
  createRun: [
    '/inputs/*',
    '/configurable/*',
    '/configurable/promptOverrides/member',
    '/configurable/mockProvider/config/*',
    '/metadata/*',
  ],
  cancelRun: ['/reason'],
  bulkCancelRuns: ['/reason'],
  pauseRun: ['/reason'],
  resumeRun: ['/reason'],
  resolveInterruptByRun: ['/resumeValue'],
  resolveInterruptByToken: ['/resumeValue'],
  resolveApproval: ['/*'],
  createAnnotation: ['/signal/correction', '/note'],
  forkRun: [
    '/runOptionsOverlay/configurable/*',
    '/runOptionsOverlay/configurable/promptOverrides/member',
    '/runOptionsOverlay/configurable/mockProvider/config/*',
    '/runOptionsOverlay/metadata/*',
  ],
  setSecret: ['/value'],
  createPrompt: PROMPT_TEXTS,
  updatePrompt: PROMPT_TEXTS,
  renderPrompt: ['/variables/*', '/ref/variableOverrides/*'],
  createSchedule: ['/inputs/*'],
  registerTrigger: ['/inputMapping/member'],
  createTrigger: ['/secret', '/inputMapping/member'],
  testTrigger: ['/body', '/headers/*'],
  // A definition, held to the schema of registerWorkflow by the engine; and a bundle, read by core/import.
  checkWorkflow: ['/*'],
  importBundle: ['/*'],
  sendA2aMessage: ['/*'], // read by the protocol's own schemas
  sendMcpMessage: [''], // read by the protocol's own schemas
  registerWorker: ['/types/0/summary', '/types/0/config/*', '/types/0/inputs/*', '/types/0/outputs/*'],
  callTool: ['/arguments/*'],
  reportTasks: [
    '/results/0/outputs/*',
    '/results/0/error/message',
    '/results/0/error/details/*',
    '/results/0/ask/data/*', // held to the config of the gate that asks the same
    '/results/0/ask/resumeSchema/*',
    '/results/0/record/*',
    '/results/0/variables/*',
    '/results/0/channels/0/value',
    '/chunks/0/text',
    '/progress/0/details',
    '/logs/0/message',
    '/logs/0/fields/*',
  ],
  registerWorkflow: [
    '/$schema', // for editors; it is not kept
    '/description',
    '/nodes/0/config/*', // held to the node type's own schema
    '/nodes/0/inputs/member/value',
    '/nodes/0/inputs/member/expression',
    '/nodes/0/notes',
    '/nodes/0/envelopeContract/*',
    '/edges/0/condition/left',
    '/edges/0/condition/right',
    '/edges/0/condition/expression',
    '/triggers/0/description',
    '/triggers/0/config/*', // held to the trigger's own schema
    '/variables/0/description',
    '/variables/0/defaultValue',
    '/channels/member/schema/*',
    '/channels/member/default',
    '/channels/member/options/*',
    '/configurableSchema/*',
    ...['system', 'user', 'few-shot', 'schema-hint'].map(
      (role) => `/defaults/promptRefs/${role}/variableOverrides/*`,
    ),
    '/metadata/customProperties/*',
    '/metadata/complianceConfig/*',
    '/metadata/*',
    '/settings/*',
    '/nodes/0/position/*',
    '/groups/0/position/*',
    '/groups/0/size/*',
    '/acceptsInheritedArtifacts/0/*',
  ],
};
const ALSO_FREE: typeof FREE = { ...FREE, forkRunWith: [...(FREE['forkRun'] ?? []), '/values/*'] };

const bodies = ROUTES.flatMap(({ operationId, request }) =>
  request === undefined ? [] : [[operationId, request.schema] as const],
);
const parameters = ROUTES.flatMap(({ operationId, query = [], headers = [] }) =>
  [...query, ...headers].map(({ name, schema }) => [`${operationId} ${name}`, schema] as const),
);

const isFree = (operationId: string, { path }: TextField): boolean =>
  (ALSO_FREE[operationId] ?? []).includes(path.replace(/\/member$/, '/*')) ||
  (ALSO_FREE[operationId] ?? []).includes(path);

/** One of each kind that is refused. */
const REFUSED = ['\u0000', '\u001b[2J', '\u007f', '\u009b', '\u202e', '\u2067', '\ud800', 'a\nb'];

describe('every text that a client sends', () => {
  it.each(bodies)('is a name, has a closed form, or is free by choice: the body of %s', (id, schema) => {
    const undecided = textFields(schema)
      .filter(({ kind }) => kind === 'text' || kind === 'key' || kind === 'json')
      .filter((field) => !isFree(id, field))
      .map(({ path, kind }) => `${path} (${kind})`);

    expect(undecided).toEqual([]);
  });

  it.each(parameters)('is a name or has a closed form: the parameter %s', (id, schema) => {
    const undecided = textFields(schema).filter(({ kind }) => kind !== 'name' && kind !== 'fixed');

    // These are read by a stricter rule in the server, and never kept.
    expect(/ (?:Idempotency-Key|If-None-Match|Prefer)$/.test(id) ? [] : undecided).toEqual([]);
  });

  it('is listed as free only where it is', () => {
    const stale = Object.entries(ALSO_FREE).flatMap(([id, paths]) => {
      const schema = bodies.find(([operationId]) => operationId === id)?.[1] ?? {};
      const known = textFields(schema).filter(({ kind }) => kind !== 'name' && kind !== 'fixed');
      return paths
        .filter((path) => known.every((field) => field.path !== path))
        .map((path) => `${id} ${path}`);
    });

    expect(stale).toEqual([]);
  });

  it.each(bodies)('is refused with its field, as a name: %s', (_, schema) => {
    const validate = compileValidator(schema);
    const names = textFields(schema).filter(({ kind }) => kind === 'name');

    expect(validate(sampleOf(schema))).toEqual([]);
    for (const field of names) {
      expect(validate(sampleWith(schema, field, 'plain')), field.path).toEqual([]);
      for (const text of REFUSED) {
        const place = field.isKey ? field.path.replace(/member$/, () => text) : field.path;
        expect(
          validate(sampleWith(schema, field, text)).map(({ path }) => path),
          `${field.path} ${JSON.stringify(text)}`,
        ).toContain(place);
      }
    }
  });
});
