import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { NodePlan } from '../compile/plan.ts';
import { memberOf, type Sensitivity } from './sensitivity.ts';

/**
 * Many nodes put the same value out twice: on port `output`, whole or as a member, and on a port of its own name. What one of them
 * declares sensitive is so on the other, unless that says otherwise. Values are compared as texts, each made once or twice, so that
 * this takes as long as writing the outputs, whatever number of ports is declared.
 */
export function withRepeated(
  computed: Sensitivity | undefined,
  outputs: JsonObject,
  declared: NodePlan['sensitivePorts'],
): (port: string, value: Json) => Sensitivity | undefined {
  const hidden = Object.entries(outputs).filter(([port]) => declared.get(port) === true);
  if (hidden.length === 0) return (port) => memberOf(computed, port);
  const ports = new Map(hidden.map(([port, value]) => [port, JSON.stringify(value)]));
  const wholes = new Set(hidden.filter(([, value]) => holdsText(value)).map(([port]) => ports.get(port)));
  const members = memberTexts(hidden.map(([, value]) => value));

  return (port, value) => {
    const known = memberOf(computed, port);
    if (known === true || known === 'within') return known;
    const text = JSON.stringify(value);
    if (wholes.has(text) || members.get(port)?.has(text) === true) return true;
    if (!isJsonObject(value)) return known;
    const repeated = Object.entries(value).filter(
      ([name, part]) => ports.has(name) && ports.get(name) === JSON.stringify(part),
    );
    if (repeated.length === 0) return known;
    const others = typeof known === 'object' ? known : {};
    return { ...others, ...Object.fromEntries(repeated.map(([name]) => [name, true])) };
  };
}

/** By name, what members of these values are. */
function memberTexts(values: readonly Json[]): ReadonlyMap<string, ReadonlySet<string>> {
  const texts = new Map<string, Set<string>>();
  for (const value of values.filter(isJsonObject)) {
    for (const [name, member] of Object.entries(value)) {
      const known = texts.get(name) ?? new Set();
      texts.set(name, known.add(JSON.stringify(member)));
    }
  }
  return texts;
}

/** Two truths may be equal by chance. */
function holdsText(value: Json): boolean {
  return value !== null && value !== '' && typeof value !== 'boolean';
}
