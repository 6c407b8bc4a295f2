import { byteBuffer } from './byte-buffer.ts';
import { JsonError } from './json-error.ts';
import { type JsonHandler, jsonParser } from './json-parser.ts';
import { toText } from './wtf8.ts';

/** Parsed JSON. Objects are maps: key order is kept and no key has a meaning of its own. */
export type JsonNode = null | boolean | number | string | readonly JsonNode[] | ReadonlyMap<string, JsonNode>;

type Open = { readonly array: JsonNode[] } | { readonly object: Map<string, JsonNode>; key: string };

export interface JsonTree extends JsonHandler {
  /** The document, when it was complete. */
  root(): JsonNode | undefined;
  /** Keys that an object holds twice, each once, as far as the tree is kept. */
  duplicates(): readonly string[];
  clear(): void;
}

/** Builds values down to `keepDepth` levels; what lies deeper is checked by the parser and dropped. */
export function jsonTree(keepDepth: number): JsonTree {
  let open: Open[] = [];
  let dropped = 0; // levels open below the kept ones
  let root: JsonNode | undefined;
  const duplicates = new Set<string>();
  const scratch = byteBuffer();

  function add(value: JsonNode): void {
    if (dropped > 0) return;
    const parent = open.at(-1);
    if (parent === undefined) root = value;
    else if ('array' in parent) parent.array.push(value);
    else {
      if (parent.object.has(parent.key)) duplicates.add(parent.key);
      parent.object.set(parent.key, value);
    }
  }

  function enter(container: JsonNode, frame: Open): void {
    if (dropped > 0 || open.length >= keepDepth) {
      if (dropped === 0) add(null);
      dropped += 1;
      return;
    }
    add(container);
    open.push(frame);
  }

  function endContainer(): void {
    if (dropped > 0) dropped -= 1;
    else open.pop();
  }

  return {
    startObject() {
      const object = new Map<string, JsonNode>();
      enter(object, { object, key: '' });
    },
    endObject: endContainer,
    startArray() {
      const array: JsonNode[] = [];
      enter(array, { array });
    },
    endArray: endContainer,
    key(text, start) {
      const parent = open.at(-1);
      if (dropped === 0 && parent !== undefined && 'object' in parent)
        parent.key = toText(text.bytes, start, text.length);
    },
    stringTarget() {
      scratch.length = 0;
      return scratch;
    },
    string(text, start) {
      if (dropped === 0) add(toText(text.bytes, start, text.length));
    },
    number: (text) => add(Number(text)),
    literal: add,
    root: () => root,
    duplicates: () => [...duplicates],
    clear() {
      open = [];
      dropped = 0;
      root = undefined;
      duplicates.clear();
    },
  };
}

export interface ParsedJson {
  readonly root: JsonNode;
  readonly duplicates: readonly string[];
}

/** A whole document at once, down to `keepDepth` levels. Throws JsonError. */
export function parseJson(bytes: Uint8Array, keepDepth: number): ParsedJson {
  const tree = jsonTree(keepDepth);
  const parser = jsonParser(tree);
  parser.write(bytes, 0, bytes.length);
  const root = parser.end() ? tree.root() : undefined;
  if (root === undefined) throw new JsonError(0, 'the file is empty');
  return { root, duplicates: tree.duplicates() };
}

/** A value as a reader would quote it, cut to a line. */
export function quoteNode(node: JsonNode | undefined): string {
  if (node === undefined) return 'nothing';
  if (Array.isArray(node)) return node.length === 0 ? '[]' : `an array of ${node.length}`;
  if (node instanceof Map) return 'an object';
  const text = JSON.stringify(node);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
