import { isIP } from 'node:net';
import { pathOf } from '@weft/protocol/plain';
import { isLoopbackBind } from './loopback.ts';
import type { Form } from './setting-kinds.ts';

export const FOLDER: Form<string> = { hint: 'DIR', takes: 'folders', parse: (text) => text };

export const POSTGRES_URL: Form<string> = {
  hint: 'URL',
  takes:
    'a URL such as postgres://user@host:5432/database. Without it, runs are kept in the data folder (--data)',
  isSecret: true,
  parse: (text) => (/^postgres(ql)?:\/\/[^/]/.test(text) ? text : undefined),
};

export const EGRESS_PAIR: Form<string> = {
  hint: 'HOST:PORT',
  takes: 'HOST:PORT pairs such as 127.0.0.1:7878',
  parse: (text) => (/^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(text) ? text : undefined),
};

const HOST_NAME = /^(https?:\/\/)?([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

export const ALLOWED_HOST: Form<string> = {
  hint: 'HOST[:PORT]',
  takes: 'hosts such as weft.example.org or https://weft.example.org:8443',
  parse: (text) => (HOST_NAME.test(text) ? text : undefined),
};

export const WEB_URL: Form<string> = {
  hint: 'URL',
  takes: 'an http or https URL',
  parse: (text) => (webUrl(text) === undefined ? undefined : text),
};

/** A collector that takes OTLP over HTTP as JSON. */
export const OTLP_ENDPOINT: Form<string> = {
  hint: 'URL',
  takes: 'an http or https URL without a user name, such as http://127.0.0.1:4318',
  isSecret: true,
  parse: (text) => (webUrl(text)?.username === '' ? text : undefined),
};

/** Whole ranges such as 0.0.0.0/0 are rejected: then any client could say where it comes from. */
export const ADDRESS_RANGE: Form<string> = {
  hint: 'ADDRESS[/BITS]',
  takes: 'addresses or ranges such as 10.0.0.0/8',
  parse(text) {
    const [address = '', bits, ...more] = text.split('/');
    const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
    const isBits =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) > 0 && Number(bits) <= width);
    return width > 0 && isBits && more.length === 0 ? text : undefined;
  },
};

export const LOOPBACK_BIND: Form<{ readonly host: string; readonly port: number }> = {
  hint: 'HOST:PORT',
  takes: `a loopback HOST:PORT such as 127.0.0.1:9464; elsewhere use GET ${pathOf('readMetrics')} with a key`,
  isSecret: true,
  parse(text) {
    const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
    const bare = host.replace(/^\[|\]$/g, '');
    return isLoopbackBind(bare) && Number(port) <= 65_535 ? { host: bare, port: Number(port) } : undefined;
  },
};

function webUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}
