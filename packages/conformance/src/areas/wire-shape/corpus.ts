import * as protocol from '@weft/protocol';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { FIXTURES } from '../../fixtures/index.ts';
import type { Check } from '../../suite/check.ts';
import { UPDATES } from '../streams/updates.ts';

const { admits, compileValidator, EVENT_CATALOGUE, EVENT_TYPES, parseStreamModes, STREAM_MODES } = protocol;

type Schema = Parameters<typeof compileValidator>[0];

const HIDDEN_IN_UPDATES = [
  'log.appended',
  'variable.changed',
  'version.pinned',
  'lease.acquired',
  'node.started',
  'node.retried',
  'acme.thing',
];

export const CORPUS_CHECKS: readonly Check[] = [
  {
    id: 'wire-shape/schemas-compile',
    title: 'every schema of the protocol compiles',
    proves: ['WIRE-28'],
    isOffline: true,
    async run({ expect }) {
      const documents = Object.entries(protocol).filter(([name]) => name.endsWith('Schema'));
      const payloads = EVENT_CATALOGUE.map(({ type, payload }) => [type, payload] as const);
      for (const [name, schema] of [...documents, ...payloads]) {
        if (typeof schema !== 'object') continue;
        expect.equal(faultOf(schema), null, `the schema ${name} compiles`);
        // Compiling takes its time, and other checks wait for answers meanwhile.
        await nextTurn();
      }
    },
  },
  {
    id: 'wire-shape/fixtures-valid',
    title: 'every fixture is a valid workflow that can be started by hand',
    proves: ['WIRE-29'],
    isOffline: true,
    run: ({ expect }) => {
      const validate = compileValidator(protocol.WorkflowDefinitionSchema);
      const ids = FIXTURES.map(({ id }) => id);
      const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
      expect.equal(repeated, [], 'every fixture has an id of its own');
      for (const fixture of FIXTURES) {
        const id = expect.string(fixture['id'], 'a fixture has an id');
        expect.equal(validate(fixture), [], `the fixture ${id} is a valid workflow definition`);
        expect.that(hasManualTrigger(fixture), `the fixture ${id} can be started by hand`);
      }
      return Promise.resolve();
    },
  },
  {
    id: 'wire-shape/stream-modes',
    title: 'every mode of a stream shows the types that the AsyncAPI document gives it',
    proves: ['WIRE-33', 'WIRE-34', 'WIRE-35', 'WIRE-37'],
    isOffline: true,
    run: ({ expect }) => {
      for (const type of UPDATES)
        expect.that(admits(['updates'], type), `updates shows events of type ${type}`);
      for (const type of HIDDEN_IN_UPDATES)
        expect.that(!admits(['updates'], type), `updates does not show events of type ${type}`);
      const unseen = [...EVENT_TYPES, 'acme.thing'].filter((type) => !admits(['debug'], type));
      expect.equal(unseen, [], 'debug shows events of every type');
      for (const type of ['state.snapshot', 'ai.message.chunk'])
        expect.that(!EVENT_TYPES.includes(type), `${type} is no type of stored events`);
      const modes = ['updates', 'values', 'messages', 'debug'];
      expect.equal([...STREAM_MODES].sort(), modes.sort(), 'a stream has four modes');
      expect.equal(parseStreamModes(undefined), ['updates'], 'updates is the mode of a stream without one');
      return Promise.resolve();
    },
  },
];

/** Why a schema does not compile; null when it does. */
function faultOf(schema: Schema): string | null {
  try {
    // The first use compiles; what is wrong with the value does not matter.
    compileValidator(schema)(null);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function hasManualTrigger({ triggers }: JsonObject): boolean {
  const list: Json[] = Array.isArray(triggers) ? triggers : [];
  return list.some(
    (trigger) => isJsonObject(trigger) && trigger['type'] === 'manual' && trigger['enabled'] !== false,
  );
}
