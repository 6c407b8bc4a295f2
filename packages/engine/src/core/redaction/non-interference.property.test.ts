import type { Json, JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBundleRedaction } from '../bundle/bundle-redaction.ts';
import { renderSnapshot } from '../fold/snapshot.ts';
import type { MaskingMode } from '../compile/plan.ts';
import { arbitraryFlow, CHILD, type Kind } from '../testing/arbitrary-flows.ts';
import { compile, simulate, type Simulation } from '../testing/simulation.ts';

/**
 * What others see of a run must not depend on what is sensitive in it: two runs of one workflow, with different values of one length,
 * must look the same, byte for byte. So nothing has to be known of what could be made from a value, or how it could be spelled.
 */

const child = compile(CHILD, 'child');

interface Seen {
  readonly outputs: string[];
}

/** Drives a run to its end; the world repeats whatever it is given. */
function play(run: Simulation, seen: Seen, crashes: boolean): void {
  run.start();
  for (let round = 0; round < 60; round++) {
    if (crashes) run.crash();
    const [effect] = run.open.values();
    const asking = run.run.state.suspended[0];
    const waiting = [...run.run.state.nodes.values()].find(
      ({ status, child: theirs }) => status === 'running' && theirs !== undefined,
    );
    if (effect !== undefined) run.succeed(effect.key, echo(effect.inputs['given'] ?? null, effect.key));
    else if (asking !== undefined) answer(run, asking);
    else if (waiting !== undefined) runChild(run, seen);
    else break;
  }
  seen.outputs.push(observable(run));
}

/** Each in its own words: where two say the same around a long value, more than the value is taken for it. */
function echo(given: Json, key: string): JsonObject {
  const text = String(given);
  const bytes = Buffer.from(text);
  return {
    said: `${key} you said ${text} to ${key}`,
    alone: given,
    list: [text, 'fine'],
    deep: { [`${key} ${text} ${key}`]: { again: text } },
    base64: bytes.toString('base64'),
    // What is short is looked for in base64 only where it is all there is.
    ...(text.length >= 5 && { header: `x ${Buffer.from(`${key}: ${text} ${key}`).toString('base64url')}` }),
    hex: bytes.toString('hex'),
    url: `${key}=${encodeURIComponent(text)}&r=${key}`,
    json: JSON.stringify({ [key]: text, key }),
    plain: 'nothing else',
  };
}

function answer(run: Simulation, key: string): void {
  const node = run.run.state.nodes.get(key);
  const data = node?.interrupt?.data['artifactData'] ?? '';
  run.answer(node?.nodeId ?? key, { action: 'accept', comment: `${key} about ${String(data)} ${key}` });
}

function runChild(parent: Simulation, seen: Seen): void {
  const request = parent.spawned.at(-1);
  if (request === undefined) return;
  const run = simulate(child, {
    inputs: request.spec.inputs,
    ...(request.sensitiveInputs !== undefined && { sensitiveInputs: request.sensitiveInputs }),
    parent: { runId: 'p', nodeId: request.nodeId, nodeKey: request.key, ancestors: ['p'], collect: ['made'] },
  });
  play(run, seen, false);
  const end = run.signals.at(-1)?.command;
  if (end?.type !== 'child') throw new Error('the child has not ended');
  const { childRunId: _theirs, nodeKey: _key, ...rest } = end;
  parent.child(request.key, 'completed', rest);
}

/** Everything of a run that others may see. */
function observable({ plan, record, run, log, signals }: Simulation): string {
  const redaction = createBundleRedaction(plan, record, run.state);
  return JSON.stringify({
    events: log.map(({ type, nodeId, payload }) => [type, nodeId, payload]),
    snapshot: renderSnapshot(plan, record, run.state, { status: run.state.status }),
    bundle: log.map(({ payload }) => redaction.payload(JSON.parse(payload) as JsonObject, payload)),
    outputs: signals.map(({ command }) => (command.type === 'child' ? command.outputs : command.type)),
  });
}

/**
 * Two values of one length, of signs that no workflow of these tests is made of. A short one of signs is only looked for where it is
 * all there is. What is long is recognised by pieces, so around values of different lengths more or less may be masked.
 */
function pairOf(
  minLength: number,
  maxLength: number,
  signs: readonly string[],
): fc.Arbitrary<[string, string]> {
  const text = (length: number) =>
    fc.string({ minLength: length, maxLength: length, unit: fc.constantFrom(...signs) });
  return (
    fc
      .integer({ min: minLength, max: maxLength })
      .chain((length) => fc.tuple(text(length), text(length)))
      .filter((values) => values.every((value) => value.trim().length === value.length))
      // With its first sign at its end such a value is known, too, and in JSON text that sign stands behind the value anyway.
      .filter((values) => !values.some((value) => value.startsWith('"')))
  );
}

const pair = fc.oneof(
  pairOf(3, 4, ['5', '6', '7', '8', '9']),
  pairOf(5, 40, ['5', '7', 'P', 'Q', '-', ' ', '"', '%']),
  pairOf(5, 20, ['Ä', 'Ö', 'Ü']),
  pairOf(60, 150, ['6', '8', 'R', '\n', '+', '/']),
);

describe('what others see of a run', () => {
  it('does not depend on what is sensitive in it', () => {
    const kinds = new Map<Kind, number>();
    fc.assert(
      fc.property(
        arbitraryFlow,
        pair,
        fc.constantFrom<MaskingMode>('mask', 'omit'),
        (flow, values, maskingMode) => {
          const spec = { ...flow.spec, metadata: { complianceConfig: { maskingMode } } };
          const plan = compile(spec);
          const seen = values.map((value, index) => {
            const run = simulate(plan, { inputs: { pin: value, pub: 'open' } });
            const all: Seen = { outputs: [] };
            play(run, all, index === 1);
            return { run, outputs: all.outputs };
          });

          const [first, second] = seen;
          expect(first?.run.run.state.status).toBe('completed');
          expect(second?.outputs).toEqual(first?.outputs);
          for (const kind of flow.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        },
      ),
      { numRuns: 300 },
    );

    // Every way of flowing was tried, and often.
    expect(kinds.size).toBe(12);
    expect(Math.min(...kinds.values())).toBeGreaterThan(50);
  });
});
