import type { JsonObject } from '@weft/protocol';
import type { EventDifferenceDocument } from '@weft/sdk';
import { unusable } from '../../exit-code.ts';

/**
 * Reads the protocol's document while it arrives: differences one by one, the rest at the end. Its members may stand in any
 * order, and only one difference is in memory at a time.
 */
export interface DiffReader {
  readonly differences: AsyncIterable<EventDifferenceDocument>;
  /** What the document says next to its differences. To be asked for when all of them were read. */
  outline(): DiffOutline;
}

export interface DiffOutline {
  readonly divergedAtSeq: number | null;
  readonly stateDiff: JsonObject;
  readonly truncated: boolean;
}

export function readDiff(pieces: AsyncIterable<string>): DiffReader {
  const splitter = createSplitter();
  async function* differences(): AsyncGenerator<EventDifferenceDocument> {
    for await (const piece of pieces) {
      for (const item of splitter.push(piece)) yield parsed(item) as EventDifferenceDocument;
    }
  }
  return {
    differences: differences(),
    outline() {
      const { divergedAtSeq, stateDiff, truncated } = parsed(splitter.outline()) as Partial<DiffOutline>;
      return {
        divergedAtSeq: divergedAtSeq ?? null,
        stateDiff: stateDiff ?? {},
        truncated: truncated ?? false,
      };
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable('answer_unreadable', 'The host’s answer is not the document of a diff.', cause);
  }
}

/** Cuts the text of the document into the items of `eventDiffs` and, with an empty list in their place, the outline. */
interface Splitter {
  push(piece: string): string[];
  outline(): string;
}

type Mark = 'list begins' | 'item ends' | 'next item' | 'list ends';

function createSplitter(): Splitter {
  const isText = createTextFinder();
  const markOf = createMarker();
  let outline = '';
  let item = '';
  let isInList = false;

  function push(piece: string): string[] {
    const items: string[] = [];
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const unit = piece[at] ?? '';
      if (isText(unit)) continue;
      const mark = markOf(unit, isInList, () => outline + piece.slice(start, at));
      if (mark === undefined) continue;
      if (mark === 'list begins') outline += piece.slice(start, at + 1);
      if (mark === 'item ends') items.push(item + piece.slice(start, at + 1));
      item = '';
      isInList = mark !== 'list ends';
      start = isInList ? at + 1 : at;
    }
    if (isInList) item += piece.slice(start);
    else outline += piece.slice(start);
    return items;
  }

  return { push, outline: () => outline };
}

/** Objects and lists are counted by depth: 1 inside the document, 2 inside the list of differences, 3 inside one of them. */
function createMarker(): (unit: string, isInList: boolean, before: () => string) => Mark | undefined {
  let depth = 0;
  return (unit, isInList, before) => {
    switch (unit) {
      case '{':
      case '[':
        depth += 1;
        return unit === '[' && depth === 2 && isListOfDifferences(before()) ? 'list begins' : undefined;
      case '}':
      case ']':
        depth -= 1;
        if (!isInList || depth > 2) return undefined;
        return depth === 2 ? 'item ends' : 'list ends';
      case ',':
        return isInList && depth === 2 ? 'next item' : undefined;
      default:
        return undefined;
    }
  };
}

/** Tells, unit by unit, what belongs to a string: brackets in there count for nothing. */
function createTextFinder(): (unit: string) => boolean {
  let isInString = false;
  let isEscaped = false;
  return (unit) => {
    if (!isInString) {
      isInString = unit === '"';
      return isInString;
    }
    if (isEscaped) isEscaped = false;
    else if (unit === '\\') isEscaped = true;
    else if (unit === '"') isInString = false;
    return true;
  };
}

function isListOfDifferences(before: string): boolean {
  return /"eventDiffs"\s*:\s*$/.test(before.slice(-64));
}
