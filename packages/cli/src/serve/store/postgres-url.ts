/** A database's URL as it may be shown: without the password, and without parameters, which may hold one too. */
export function shownUrl(url: string): string {
  const [, scheme = '', rest = ''] = /^([a-z]+:\/\/)([^?#]*)/s.exec(url) ?? [];
  const end = rest.indexOf('/', rest.lastIndexOf('@') + 1);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : `${authority.slice(0, at).split(':', 1)[0] ?? ''}@`;
  return `${scheme}${user}${authority.slice(at + 1)}${end < 0 ? '' : rest.slice(end)}`;
}
