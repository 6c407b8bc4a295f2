import { isIP } from 'node:net';
import { EgressError } from './egress-error.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Where a request goes, in one spelling: the URL parser turns decimal, octal and hex IPv4 into dotted form. */
export interface Destination {
  /** Without userinfo and fragment. */
  readonly url: URL;
  readonly origin: string;
  /** Path and query, as the request line has them. */
  readonly path: string;
  /** Lower case, without brackets or trailing dots. */
  readonly host: string;
  readonly port: number;
  /** `host:port`, IPv6 in brackets: what `allow` holds and what messages may name. */
  readonly authority: string;
  /** Where `host` is an address: there is nothing to resolve. */
  readonly literal: ResolvedAddress | undefined;
  /** From the URL's userinfo, which never travels on. */
  readonly authorization: string | undefined;
}

export function parseDestination(text: string, base?: URL): Destination {
  const url = parseUrl(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressError('invalid_request', 'The URL must begin with http:// or https://.', {
      reason: 'scheme',
      destination: '',
    });
  }
  const authorization = basicAuthorization(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const host = plainHost(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (host === '') throw unreadable();
  const family = isIP(host);
  return {
    url,
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    host,
    port,
    authority: authorityOf(host, port),
    literal: family === 4 || family === 6 ? { address: host, family } : undefined,
    authorization,
  };
}

export function authorityOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** One entry of the allow list, in the spelling of `Destination.authority`. */
export function parsePair(entry: string): { authority: string; port: number } {
  const cut = entry.lastIndexOf(':');
  const port = Number(entry.slice(cut + 1));
  const host = entry.slice(0, cut);
  const isPort = /^\d{1,5}$/.test(entry.slice(cut + 1)) && port >= 1 && port <= 65_535;
  if (cut < 1 || !isPort || /[/@?#\\\s]/.test(host) || !URL.canParse(`http://${host}/`)) {
    throw new TypeError(
      `The egress pair "${entry}" is not HOST:PORT; write for example 127.0.0.1:8080 or [::1]:8080.`,
    );
  }
  return { authority: authorityOf(plainHost(new URL(`http://${host}/`).hostname), port), port };
}

function parseUrl(text: string, base: URL | undefined): URL {
  try {
    return new URL(text, base);
  } catch {
    throw unreadable(); // the parser's own error repeats the URL, which may hold a secret
  }
}

function unreadable(): EgressError {
  return new EgressError('invalid_request', 'The URL cannot be read.', { reason: 'url', destination: '' });
}

function plainHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}

function basicAuthorization(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  const userinfo = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return `Basic ${Buffer.from(userinfo).toString('base64')}`;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unreadable();
  }
}
