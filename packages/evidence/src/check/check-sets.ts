import { type JsonNode, quoteNode } from '../bytes/json-tree.ts';
import { compareText } from '../bytes/wtf8.ts';
import { PARTS } from '../contract/set-diff.ts';
import { CATEGORIES } from '../contract/vocabulary.ts';
import type { CheckContext, JsonMap } from './check-context.ts';

/** Strings in code point order, each once. Returns what is there, or undefined when it is no such array. */
function sortedTexts(context: CheckContext, place: string, node: JsonNode | undefined): string[] | undefined {
  if (!Array.isArray(node) || !node.every((item) => typeof item === 'string')) {
    context.report(place, quoteNode(node), 'an array of strings');
    return undefined;
  }
  const texts: string[] = node;
  const wrong = texts.findIndex(
    (text, index) => index > 0 && compareText(texts[index - 1] as string, text) >= 0,
  );
  if (wrong !== -1)
    context.report(`${place}/${wrong}`, quoteNode(texts[wrong]), 'code point order, each value once');
  return texts;
}

/** added, removed, unchanged: ordered, and no value in two of them. */
export function checkParts(
  context: CheckContext,
  place: string,
  node: JsonNode | undefined,
): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  const object = context.object(place, node, PARTS);
  if (object === undefined) return parts;
  const seen = new Map<string, string>();
  for (const part of PARTS) {
    const texts = sortedTexts(context, `${place}/${part}`, object.get(part)) ?? [];
    parts.set(part, texts);
    for (const text of texts) {
      const other = seen.get(text);
      if (other !== undefined && other !== part)
        context.report(
          `${place}/${part}`,
          `${quoteNode(text)}, which is also in ${other}`,
          'each value in one part',
        );
      seen.set(text, part);
    }
  }
  return parts;
}

export type SurfaceParts = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

export function checkSurface(
  context: CheckContext,
  node: JsonNode | undefined,
  mustBeEmpty: boolean,
): SurfaceParts {
  const surface = context.object('/surface', node, CATEGORIES);
  const parts = new Map<string, Map<string, string[]>>();
  for (const category of surface === undefined ? [] : CATEGORIES) {
    const found = checkParts(context, `/surface/${category}`, surface?.get(category));
    parts.set(category, found);
    const count = [...found.values()].reduce((sum, texts) => sum + texts.length, 0);
    if (mustBeEmpty && count > 0)
      context.report(`/surface/${category}`, `${count} values`, 'none: a failed diff compares nothing');
  }
  return parts;
}

export function checkUnbound(context: CheckContext, node: JsonNode | undefined): void {
  const unbound: JsonMap | undefined = context.object('/unbound', node, CATEGORIES);
  for (const category of unbound === undefined ? [] : CATEGORIES)
    context.texts(`/unbound/${category}`, unbound?.get(category), []);
}
