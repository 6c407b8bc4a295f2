/**
 * Many texts to look for, kept as a tree of their characters. Texts come and go one by one, and a place in a text is decided by
 * walking down the tree: at most `SEGMENT` steps, whatever the number of texts.
 *
 * A text longer than a segment is kept as its segments. Together they cover all of it, and one alone is enough to
 *      recognise a piece of it: a truncated value is found, too.
 * A short text would be found by accident inside others. It counts only where it stands alone, between characters that
 *      are neither letters nor digits.
 */
export const SEGMENT = 32;
export const SHORT = 5;

/** A segment of a text that is looked for. */
export interface Literal<Tag> {
  readonly text: string;
  readonly isShort: boolean;
  tag: Tag;
  /** How often it was added and not removed. */
  count: number;
}

interface TreeNode<Tag> {
  /** What ends here. */
  end: Literal<Tag> | undefined;
  /** The only one below here, until there is a second: most branches of the tree lead to one literal. */
  only: Literal<Tag> | undefined;
  next: Map<number, TreeNode<Tag>> | undefined;
}

export interface Match<Tag> {
  /** The longest one that begins here. */
  readonly literal: Literal<Tag> | undefined;
  /** The text ended while some literal could still have gone on. */
  readonly isOpen: boolean;
  readonly steps: number;
}

/** Reads the text that is searched; below 0 and beyond its end there is nothing, which is -1. */
export type CodeAt = (at: number) => number;

export interface LiteralTree<Tag> {
  readonly size: number;
  /** False for nearly every place: no literal begins with these two characters. */
  mayBegin(first: number, second: number): boolean;
  add(text: string, tag: Tag): void;
  remove(text: string): void;
  /** What begins at a place of a text. */
  match(codeAt: CodeAt, at: number, length: number): Match<Tag>;
}

const PAIR_SLOTS = 1 << 13;

export function createLiteralTree<Tag>(): LiteralTree<Tag> {
  const root: TreeNode<Tag> = newNode();
  const pairs = new Uint8Array(PAIR_SLOTS);
  const singles = new Uint8Array(0x100);
  let size = 0;

  function insert(literal: Literal<Tag>, from: TreeNode<Tag>, depth: number): void {
    let node = from;
    for (let at = depth; at < literal.text.length; at++) {
      const other = node.only;
      if (other !== undefined) {
        node.only = undefined;
        insertBelow(node, other, at);
      }
      const code = literal.text.charCodeAt(at);
      const next = node.next?.get(code);
      if (next === undefined) {
        const leaf = newNode<Tag>();
        leaf.only = literal;
        (node.next ??= new Map()).set(code, leaf);
        return;
      }
      node = next;
    }
    const other = node.only;
    if (other !== undefined) {
      node.only = undefined;
      insertBelow(node, other, literal.text.length);
    }
    node.end = literal;
  }

  /** One step further down than it was. */
  function insertBelow(node: TreeNode<Tag>, literal: Literal<Tag>, depth: number): void {
    if (depth === literal.text.length) node.end = literal;
    else {
      const leaf = newNode<Tag>();
      leaf.only = literal;
      (node.next ??= new Map()).set(literal.text.charCodeAt(depth), leaf);
    }
  }

  /** `path` is given the way to it, if there is one. */
  function find(text: string, path?: TreeNode<Tag>[]): Literal<Tag> | undefined {
    path?.push(root);
    let node = root;
    for (let at = 0; at < text.length && node.only === undefined; at++) {
      const next = node.next?.get(text.charCodeAt(at));
      if (next === undefined) return undefined;
      path?.push(next);
      node = next;
    }
    const literal = node.only ?? node.end;
    return literal?.text === text ? literal : undefined;
  }

  /** Takes a literal out, and with it the branches that led to nothing else. */
  function cut(literal: Literal<Tag>, path: TreeNode<Tag>[]): void {
    const last = path.at(-1) ?? root;
    if (last.only === literal) last.only = undefined;
    if (last.end === literal) last.end = undefined;
    for (let depth = path.length - 1; depth > 0; depth--) {
      const node = path[depth] ?? root;
      if (node.only !== undefined || node.end !== undefined || (node.next?.size ?? 0) > 0) return;
      path[depth - 1]?.next?.delete(literal.text.charCodeAt(depth - 1));
    }
  }

  function noteBeginning(text: string): void {
    const first = text.charCodeAt(0);
    if (text.length === 1) singles[first & 0xff] = 1;
    else pairs[slotOf(first, text.charCodeAt(1))] = 1;
  }

  return {
    get size() {
      return size;
    },
    mayBegin: (first, second) => pairs[slotOf(first, second)] === 1 || singles[first & 0xff] === 1,
    add(text, tag) {
      const known = find(text);
      if (known !== undefined) {
        known.count += 1;
        return;
      }
      size += 1;
      noteBeginning(text);
      insert({ text, tag, isShort: text.length < SHORT, count: 1 }, root, 0);
    },
    remove(text) {
      const path: TreeNode<Tag>[] = [];
      const literal = find(text, path);
      if (literal === undefined) return;
      literal.count -= 1;
      if (literal.count > 0) return;
      size -= 1;
      cut(literal, path);
    },
    match(codeAt, at, length) {
      let node = root;
      let best: Literal<Tag> | undefined;
      for (let depth = 0; ; depth++) {
        if (node.only !== undefined) {
          const match = matchOnly(node.only, codeAt, at, length, depth);
          return best === undefined || match.literal !== undefined ? match : { ...match, literal: best };
        }
        if (node.end !== undefined && isAlone(node.end, codeAt, at)) best = node.end;
        if (node.next === undefined) return { literal: best, isOpen: false, steps: depth + 1 };
        if (at + depth >= length) return { literal: best, isOpen: true, steps: depth + 1 };
        const next = node.next.get(codeAt(at + depth));
        if (next === undefined) return { literal: best, isOpen: false, steps: depth + 1 };
        node = next;
      }
    },
  };
}

function matchOnly<Tag>(
  literal: Literal<Tag>,
  codeAt: CodeAt,
  at: number,
  length: number,
  depth: number,
): Match<Tag> {
  const { text } = literal;
  let index = depth;
  while (index < text.length && at + index < length && codeAt(at + index) === text.charCodeAt(index)) index++;
  if (index === text.length) {
    const isFound = isAlone(literal, codeAt, at);
    return { literal: isFound ? literal : undefined, isOpen: false, steps: index + 1 };
  }
  return { literal: undefined, isOpen: at + index >= length, steps: index + 1 };
}

function newNode<Tag>(): TreeNode<Tag> {
  return { end: undefined, only: undefined, next: undefined };
}

function slotOf(first: number, second: number): number {
  return ((first << 6) ^ second) & (PAIR_SLOTS - 1);
}

function isAlone<Tag>({ text, isShort }: Literal<Tag>, codeAt: CodeAt, at: number): boolean {
  if (!isShort) return true;
  const last = text.length - 1;
  // What begins or ends with a sign would stand alone everywhere.
  if (!isWordCode(text.charCodeAt(0)) || !isWordCode(text.charCodeAt(last))) return false;
  return !isWordCode(codeAt(at - 1)) && !isWordCode(codeAt(at + text.length));
}

function isWordCode(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
