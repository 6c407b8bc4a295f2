import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { codeOf } from './errors.ts';

/**
 * A connection URL as libpq and every provider's console write it. What it says of TLS is read here, because the client library
 * would take a path to a certificate for a setting of the server:
 *
 *   sslmode                 encrypted            the certificate is checked
 *   disable                 no                   –
 *   allow, prefer           if the server can    no
 *   require                 yes                  no, but with sslrootcert as verify-ca
 *   verify-ca               yes                  yes, for whatever name
 *   verify-full             yes                  yes, for the name in the URL
 *
 * Without sslmode it is `prefer`, and `disable` on this machine.
 *
 * A URL may list several servers, of which one at a time can be written to; each of them is a target of its own.
 */
export interface Target {
  /** Of one server, without what is read here. */
  readonly url: string;
  readonly ssl: Ssl;
}

type Ssl = false | 'prefer' | ConnectionOptions;

/** What is wrong with a connection URL, and the way out. Says nothing of the URL but the names of parameters and of files. */
export class ConnectionUrlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConnectionUrlError';
  }
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

export function readUrl(text: string): readonly Target[] {
  const { before, hosts, after, query } = split(text);
  const parameters = new URLSearchParams(query);
  const take = (name: string): string | undefined => {
    const value = parameters.get(name) ?? undefined;
    parameters.delete(name);
    return value === '' ? undefined : value;
  };
  const said = take('sslmode');
  const mode = said === undefined ? undefined : modeOf(said);
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') };
  assertBinding(take('channel_binding'), mode);
  assertWritable(take('target_session_attrs'));
  const rest = parameters.toString();
  return hosts.map((host) => ({
    url: `${before}${host}${after}${rest === '' ? '' : `?${rest}`}`,
    ssl: sslOf(mode ?? (LOOPBACK.test(nameOf(host)) ? 'disable' : 'prefer'), nameOf(host), files),
  }));
}

interface Files {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

function sslOf(mode: Mode, host: string, files: Files): Ssl {
  if (mode === 'disable') return false;
  if (mode === 'allow' || mode === 'prefer') return 'prefer';
  const isChecked = mode !== 'require' || files.ca !== undefined;
  // The word for what the system trusts, which is what counts where no file is named.
  const ca = files.ca === 'system' ? undefined : files.ca;
  return {
    rejectUnauthorized: isChecked,
    ...(ca !== undefined && { ca: contentOf('sslrootcert', ca) }),
    ...(files.cert !== undefined && { cert: contentOf('sslcert', files.cert) }),
    ...(files.key !== undefined && { key: keyOf(files.key) }),
    checkServerIdentity: mode === 'verify-full' ? identityCheck(host) : () => undefined,
  };
}

/** The client library names the host to TLS when it has a name, but not when it is an address. */
function identityCheck(host: string): NonNullable<ConnectionOptions['checkServerIdentity']> {
  return (name, certificate) => checkServerIdentity(isIP(host) > 0 ? host : name, certificate);
}

function modeOf(mode: string): Mode {
  const known = MODES.find((one) => one === mode);
  if (known === undefined)
    throw new ConnectionUrlError(`sslmode in the URL must be one of ${MODES.join(', ')}.`);
  return known;
}

/** Binding a login to its TLS connection excludes a man in the middle; so does a certificate that is checked for its name. */
function assertBinding(binding: string | undefined, mode: Mode | undefined): void {
  if (binding === 'require' && mode !== 'verify-full')
    throw new ConnectionUrlError(
      'channel_binding=require in the URL is not supported. Take it out and say sslmode=verify-full, which keeps others out as well.',
    );
}

/** Whatever the URL says, only a server that can be written to is taken; one that says the contrary is a mistake. */
function assertWritable(attributes: string | undefined): void {
  if (attributes !== undefined && !['any', 'read-write', 'primary'].includes(attributes))
    throw new ConnectionUrlError(
      `target_session_attrs=${attributes} in the URL leads to a server that can only be read. Take it out, or say read-write.`,
    );
}

function contentOf(parameter: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConnectionUrlError(
      `The file that ${parameter} in the URL names cannot be read: ${path} (${codeOf(error)}).`,
    );
  }
}

const OTHERS = 0o077;
const OTHERS_THAN_GROUP = 0o037;

/** As libpq wants it: for its owner alone, or for a group where root owns it. */
function keyOf(path: string): Buffer {
  const content = contentOf('sslkey', path);
  const { mode, uid } = statSync(path);
  const isOpen = (mode & (uid === 0 ? OTHERS_THAN_GROUP : OTHERS)) !== 0;
  if (!isOpen || process.platform === 'win32') return content;
  throw new ConnectionUrlError(
    `The file that sslkey in the URL names is open to other users: ${path}. Close it with chmod 600.`,
  );
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\/.*|)$/i;

interface Parts {
  /** Up to the first host. */
  readonly before: string;
  /** With their ports. */
  readonly hosts: readonly string[];
  /** From the last host to the parameters. */
  readonly after: string;
  readonly query: string;
}

/** A password may hold anything but a question mark. */
function split(text: string): Parts {
  const mark = text.indexOf('?');
  const base = mark < 0 ? text : text.slice(0, mark);
  const scheme = /^[a-z]+:\/\//i.exec(base)?.[0].length ?? 0;
  const begin = Math.max(scheme, base.lastIndexOf('@') + 1);
  const slash = base.indexOf('/', begin);
  const end = slash < 0 ? base.length : slash;
  return {
    before: base.slice(0, begin),
    hosts: base.slice(begin, end).split(','),
    after: base.slice(end),
    query: mark < 0 ? '' : text.slice(mark + 1),
  };
}

/** Without the port. */
function nameOf(host: string): string {
  const [, address] = /^\[(.*)\]/.exec(host) ?? [];
  return address ?? host.replace(/:\d*$/, '');
}
