import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';

/** One thing that keeps a document from being a v0 diff. */
export interface DocumentProblem {
  /** A JSON pointer, or a byte. */
  readonly place: string;
  readonly found: string;
  readonly needed: string;
}

export type JsonMap = ReadonlyMap<string, JsonNode>;

/** Small checks that report and continue, so that one look finds everything. */
export interface CheckContext {
  readonly problems: readonly DocumentProblem[];
  report(place: string, found: string, needed: string): void;
  /** An object with exactly these keys in this order; undefined when it is no object at all. */
  object(place: string, node: JsonNode | undefined, keys: readonly string[]): JsonMap | undefined;
  exactly(place: string, node: JsonNode | undefined, wanted: string | boolean): void;
  /** An array with exactly these texts. */
  texts(place: string, node: JsonNode | undefined, wanted: readonly string[]): void;
  nonEmptyText(place: string, node: JsonNode | undefined): string | undefined;
}

export function checkContext(): CheckContext {
  const problems: DocumentProblem[] = [];

  function report(place: string, found: string, needed: string): void {
    problems.push({ place, found, needed });
  }

  function object(place: string, node: JsonNode | undefined, keys: readonly string[]): JsonMap | undefined {
    if (!(node instanceof Map)) {
      report(place, quoteNode(node), 'an object');
      return undefined;
    }
    const map = node as JsonMap;
    const missing = keys.filter((key) => !map.has(key));
    const extra = [...map.keys()].filter((key) => !keys.includes(key));
    for (const key of missing) report(`${place}/${key}`, 'nothing', 'the key');
    for (const key of extra)
      report(`${place}/${key}`, 'a key that the contract does not have', 'no such key');
    const isOrdered = [...map.keys()].every((key, index) => key === keys[index]);
    if (missing.length === 0 && extra.length === 0 && !isOrdered)
      report(place, `keys in the order ${[...map.keys()].join(', ')}`, keys.join(', '));
    return map;
  }

  return {
    problems,
    report,
    object,
    exactly(place, node, wanted) {
      if (node !== wanted) report(place, quoteNode(node), JSON.stringify(wanted));
    },
    texts(place, node, wanted) {
      const isSame =
        Array.isArray(node) &&
        node.length === wanted.length &&
        wanted.every((text, index) => node[index] === text);
      if (isSame) return;
      const needed =
        wanted.length === 0
          ? 'an empty array'
          : `exactly ${wanted.map((text) => text.split(':')[0]).join(', ')}`;
      report(
        place,
        Array.isArray(node) ? `an array of ${node.length}, not the same` : quoteNode(node),
        needed,
      );
    },
    nonEmptyText(place, node) {
      if (typeof node === 'string' && node !== '') return node;
      report(place, quoteNode(node), 'a non-empty string');
      return undefined;
    },
  };
}
