/**
 * Who comes next when tenants share what is scarce. Items wait in lanes: one per tenant, or one per run inside its tenant's.
 *
 * A lane is first in, first out.
 * Lanes on the same level alternate: between two items of one lane, every other lane that may go has gone once.
 * A taken item holds a place in each of its lanes until it leaves. No lane holds more places than its quota.
 * An operation takes the same few steps however many items wait, and in however many lanes. An empty lane costs
 *      nothing.
 */
export interface FairQueue<Item> {
  /** Waits at the end of its lane. `path` names the lane from the outermost inwards, always in the same number of names. */
  push(item: Item, ...path: readonly string[]): Ticket<Item>;
  /** What `take` would return. */
  next(): Item | undefined;
  /** The next one, which holds its places from now on; undefined when nothing waits that may go. */
  take(): Ticket<Item> | undefined;
  waiting(): number;
  held(): number;
  /** Outermost lanes in which something waits or holds a place. */
  lanes(): number;
}

export interface Ticket<Item> {
  readonly item: Item;
  /** Stops waiting, or gives its places back; more than once is once. */
  leave(): void;
}

export interface FairQueueOptions<Item> {
  /** Places of all together. */
  readonly quota?: number;
  /** Places of one lane, by its depth (0 = outermost); asked with the first item of a lane. */
  readonly laneQuota?: (depth: number, item: Item) => number;
}

export function createFairQueue<Item>(options: FairQueueOptions<Item> = {}): FairQueue<Item> {
  const { laneQuota = () => Number.POSITIVE_INFINITY } = options;
  const root = new Lane<Item>('', undefined, options.quota ?? Number.POSITIVE_INFINITY);

  return {
    push(item, ...path) {
      let lane = root;
      let depth = 0;
      for (const name of path) {
        lane = lane.inner?.get(name) ?? lane.open(name, laneQuota(depth, item));
        depth += 1;
      }
      return lane.add(item);
    },
    next: () => root.next()?.item,
    take() {
      const place = root.next();
      place?.hold();
      return place;
    },
    waiting: () => root.waiting,
    held: () => root.held,
    lanes: () => root.inner?.size ?? 0,
  };
}

interface Link<Item> {
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
  /** The next item of a lane; an item itself. */
  next(): Place<Item> | undefined;
}

/** In its line stand, in an innermost lane, the items that wait; in others, the lanes with something that may go. */
class Lane<Item> implements Link<Item> {
  readonly name: string;
  readonly parent: Lane<Item> | undefined;
  readonly quota: number;
  inner: Map<string, Lane<Item>> | undefined;
  first: Link<Item> | undefined;
  last: Link<Item> | undefined;
  waiting = 0;
  held = 0;
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
  isInLine = false;

  constructor(name: string, parent: Lane<Item> | undefined, quota: number) {
    this.name = name;
    this.parent = parent;
    this.quota = quota;
  }

  open(name: string, quota: number): Lane<Item> {
    const lane = new Lane<Item>(name, this, quota);
    this.inner ??= new Map();
    this.inner.set(name, lane);
    return lane;
  }

  add(item: Item): Place<Item> {
    const place = new Place(item, this);
    this.append(place);
    this.change(1, 0);
    return place;
  }

  next(): Place<Item> | undefined {
    return this.held < this.quota ? this.first?.next() : undefined;
  }

  /** Of this lane and those around it. Each then stands in its line exactly while something in it may go. */
  change(waiting: number, held: number): void {
    this.waiting += waiting;
    this.held += held;
    const { parent } = this;
    if (parent === undefined) return;
    const mayGo = this.first !== undefined && this.held < this.quota;
    // One that has had its turn goes to the end.
    if (this.isInLine && (!mayGo || held > 0)) {
      parent.remove(this);
      this.isInLine = false;
    }
    if (mayGo && !this.isInLine) {
      parent.append(this);
      this.isInLine = true;
    }
    if (this.waiting + this.held === 0) parent.inner?.delete(this.name);
    parent.change(waiting, held);
  }

  append(link: Link<Item>): void {
    link.before = this.last;
    if (this.last === undefined) this.first = link;
    else this.last.after = link;
    this.last = link;
  }

  remove(link: Link<Item>): void {
    const { before, after } = link;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    link.before = undefined;
    link.after = undefined;
  }
}

class Place<Item> implements Link<Item>, Ticket<Item> {
  readonly item: Item;
  readonly lane: Lane<Item>;
  state: 'waiting' | 'held' | 'gone' = 'waiting';
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;

  constructor(item: Item, lane: Lane<Item>) {
    this.item = item;
    this.lane = lane;
  }

  next(): Place<Item> {
    return this;
  }

  hold(): void {
    this.state = 'held';
    this.lane.remove(this);
    this.lane.change(-1, 1);
  }

  leave(): void {
    const { state, lane } = this;
    if (state === 'gone') return;
    this.state = 'gone';
    if (state === 'waiting') lane.remove(this);
    lane.change(state === 'waiting' ? -1 : 0, state === 'held' ? -1 : 0);
  }
}
