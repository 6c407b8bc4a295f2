import { sign } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import type { HostileCase } from './corpus.ts';
import { workflow } from './definitions.ts';
import { installing, JAVASCRIPT_TYPE, WASM_TYPE, wasmArchive } from './installed-packs.ts';
import { newKey } from './signing-key.ts';
import { INSTRUCTIONS, moduleBytes, type ModuleParts } from './wasm-bytes.ts';

/** What code of packs can do once it is installed, and what is not installed at all. */

const AT_A_TIME = 8;
/** For those that would take the whole time that a call has. */
const SHORT: JsonObject = { timeoutMs: 2_000 };
/** A call has 30 s. */
const WHOLE_CALL_MS = 45_000;

interface Called {
  /** Node types by their last part, and the code with which each run of them ends. */
  readonly ends: string;
  readonly settings?: JsonObject;
  readonly times?: number;
}

const WASM: Readonly<Record<string, Called>> = {
  loops: { ends: 'node_timeout', settings: SHORT },
  starts: { ends: 'node_timeout', settings: SHORT },
  asks: { ends: 'node_timeout', settings: SHORT },
  grows: { ends: 'wasm_cap_breached' },
  recurses: { ends: 'wasm_invocation_failed' },
  lies: { ends: 'wasm_invocation_failed' },
  misplaces: { ends: 'wasm_invocation_failed' },
};

/** They share a process, which ends with each that does not end by itself. */
const JAVASCRIPT: Readonly<Record<string, Called>> = {
  leaves: { ends: 'sandbox_ended' },
  aborts: { ends: 'sandbox_memory_exceeded' },
  kills: { ends: 'completed', times: 2 },
  breaks: { ends: 'kept_in', times: 2 },
  prints: { ends: 'completed', times: 2 },
  fetches: { ends: 'completed', times: 2 },
  loops: { ends: 'sandbox_timeout', times: 1 },
  hoards: { ends: 'sandbox_memory_exceeded', times: 1 },
  swells: { ends: 'sandbox_memory_exceeded', times: 1 },
  rambles: { ends: 'sandbox_ended', times: 1 },
  misleads: { ends: 'sandbox_ended', times: 1 },
  chats: { ends: 'sandbox_memory_exceeded', times: 1 },
  babbles: { ends: 'reports_too_fast', times: 1 },
};

function calling(name: string, typeId: string, { ends, settings, times = AT_A_TIME }: Called): HostileCase {
  return {
    kind: 'pack',
    name,
    ends,
    async attack(attacker) {
      const port = { type: 'static', value: attacker.port };
      const node = { id: 'n', typeId, inputs: { port }, ...(settings !== undefined && { settings }) };
      const outcomes = await Promise.all(
        Array.from({ length: times }, () => attacker.runs(workflow([node]), {}, WHOLE_CALL_MS)),
      );
      return [...new Set(outcomes)]
        .map((each) => `${outcomes.filter((other) => other === each).length}×${each}`)
        .join(', ');
    },
  };
}

const NAME = 'vendor.hostile.refused';
const TYPE = 'hostile.refused';
const OPEN: JsonObject = { mode: 'open' };
const module = (parts: Partial<ModuleParts> = {}) =>
  wasmArchive(NAME, TYPE, moduleBytes({ name: NAME, typeId: TYPE, invoke: INSTRUCTIONS.answers, ...parts }));

/** Modules that never run. */
const UNUSABLE: Readonly<Record<string, () => Uint8Array>> = {
  'a module without exports': () => wasmArchive(NAME, TYPE, Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)),
  'a module whose start never ends': () => module({ start: INSTRUCTIONS.loops }),
  'a module that is half there': () =>
    wasmArchive(
      NAME,
      TYPE,
      moduleBytes({ name: NAME, typeId: TYPE, invoke: INSTRUCTIONS.answers }).subarray(0, 90),
    ),
};

/** What is wrong with the key that has signed a pack in the right way. */
const KEYS: Readonly<Record<string, JsonObject>> = {
  'a key that was revoked': { revokedAt: '2021-01-01T00:00:00Z' },
  'a key that is not valid yet': { validFrom: '2999-01-01T00:00:00Z' },
  'a key that is not valid any more': { validUntil: '2021-01-01T00:00:00Z' },
};

async function signedBy(change: JsonObject, namespace: string): Promise<string> {
  const { document, privateKey } = newKey(change);
  const archive = module();
  const trust = { keychains: [{ namespace, keys: [document] }] };
  return installing({ archive, trust, signature: sign(null, archive, privateKey) });
}

export const INSTALLED_CASES: readonly HostileCase[] = [
  ...Object.entries(WASM).map(([word, called]) =>
    calling(`installed WASM that ${word}`, WASM_TYPE(word), called),
  ),
  calling('installed WASM that loops for as long as a call may take', WASM_TYPE('loops'), {
    ends: 'wasm_cap_breached',
    times: 1,
  }),
  ...Object.entries(JAVASCRIPT).map(([word, called]) =>
    calling(`installed JavaScript that ${word}`, JAVASCRIPT_TYPE(word), called),
  ),
  ...Object.entries(UNUSABLE).map(
    ([name, archive]): HostileCase => ({
      kind: 'pack',
      name: `installing ${name}`,
      ends: 'wasm_module_invalid',
      attack: () => installing({ archive: archive(), trust: OPEN }),
    }),
  ),
  ...Object.entries(KEYS).map(
    ([name, change]): HostileCase => ({
      kind: 'pack',
      name: `installing what was signed by ${name}`,
      ends: 'signature_unknown_key',
      attack: () => signedBy(change, 'vendor.hostile'),
    }),
  ),
  {
    kind: 'pack',
    name: 'installing what was signed by a key of another name',
    ends: 'signature_unknown_key',
    attack: () => signedBy({}, 'vendor.other'),
  },
];
