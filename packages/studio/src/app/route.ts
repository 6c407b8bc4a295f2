/**
 * Where the page is, as the fragment says: `#/runs/ID?tab=log&at=12`. A fragment is never sent to a host, so a link's token stays out of logs,
 * and the page needs no address but its own, whatever path it is served under.
 */
export interface Route {
  /** `['runs', 'ID']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const path = (mark === -1 ? text : text.slice(0, mark)).split('/').filter((part) => part !== '');
  const query = mark === -1 ? {} : Object.fromEntries(new URLSearchParams(text.slice(mark + 1)));
  return { path: path.map(decoded), query };
}

/** Parameters without a value are left out, so that equal places have equal addresses. */
export function hashOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as [string, string]],
  );
  const tail = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  return `#/${path.map(encodeURIComponent).join('/')}${tail}`;
}

/** The one-time code of a link that `weft open` made; it replaces the whole fragment. */
export function signInCodeOf(hash: string): string | undefined {
  return /^#code=([\w-]{1,200})$/.exec(hash)?.[1];
}

/** The host's address: the page is served from `studio/` below it. */
export function hostAddressOf(pageAddress: string): string {
  const { origin, pathname } = new URL(pageAddress);
  const at = pathname.lastIndexOf('/studio/');
  return origin + (at === -1 ? '' : pathname.slice(0, at));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
