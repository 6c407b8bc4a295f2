import type { Json } from '@weft/protocol/plain';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Values compared between two steps. */
const VALUES = 2_000;

/** Whether two values have the same canonical text, without writing it: the order of names does not count. */
export function* isSameValue(a: Json, b: Json): CooperativeTask<boolean> {
  const open: [Json | undefined, Json | undefined][] = [[a, b]];
  let compared = 0;
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    compared += 1;
    if (compared % VALUES === 0) yield;
    if (left === right) continue;
    if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right))
      return false;
    const names = namesOf(left);
    if (names.length !== namesOf(right).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(right, name)) return false;
      open.push([left[name], right[name]]);
    }
  }
  return true;
}

type Container = Readonly<Record<string, Json | undefined>>;

function isContainer(value: Json | undefined): value is Json & Container {
  return typeof value === 'object' && value !== null;
}

/** Members that are undefined are not there. */
function namesOf(container: Container): string[] {
  return Object.keys(container).filter((name) => container[name] !== undefined);
}
