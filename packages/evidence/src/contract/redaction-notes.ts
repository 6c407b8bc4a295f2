import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import type { Evidence } from './evidence.ts';
import { type SideProblem } from './problem.ts';
import { HEALTH_FILE } from './vocabulary.ts';

/** Placeholders carry a digest under a key; under two keys the same secret looks like two values. */
export function redactionNotes(base: Evidence, head: Evidence): SideProblem[] {
  const [before, after] = [keyOf(base), keyOf(head)];
  if (before === undefined || after === undefined || before === after) return [];
  return [
    {
      code: 'redaction_keys_differ',
      effect: 'note',
      side: 'head',
      file: HEALTH_FILE,
      field: '/redaction/key_id',
      found: `${quoteNode(after)}, the base has ${quoteNode(before)}`,
      needed: 'one key for both, if redacted values are to be compared',
      readable: 'Values without placeholders. A redacted value on one side never equals one on the other.',
    },
  ];
}

function keyOf(evidence: Evidence): JsonNode | undefined {
  const redaction = evidence.health?.fields.get('redaction');
  return redaction instanceof Map ? (redaction as ReadonlyMap<string, JsonNode>).get('key_id') : undefined;
}
