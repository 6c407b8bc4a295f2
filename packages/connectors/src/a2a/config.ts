import { compileValidator, isJsonObject, type Json, nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import { A2A_LIMITS } from './limits.ts';

/** One entry of `a2a.peers`, read and checked. */
export interface A2aPeer {
  readonly name: string;
  /** Of the agent; its card is looked for below it, unless the URL is that of a card. */
  readonly url: URL;
  readonly secretId: string | undefined;
  /** `plain`: a few JSON endpoints in place of the bindings of A2A; conformance suites have such peers. */
  readonly binding: 'a2a' | 'plain';
  /** For one request. */
  readonly timeoutMs: number;
}

/** What is wrong, with the field it is wrong in. */
export class A2aConfigError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.name = 'A2aConfigError';
    this.field = field;
  }
}

const optional = Type.Optional;
const text = nameOf({ minLength: 1, maxLength: 8_192 });

const PEER = Type.Object(
  {
    url: text,
    apiKey: optional(text),
    binding: optional(Type.Enum(['a2a', 'plain'])),
    timeoutMs: optional(Type.Integer({ minimum: 1, maximum: A2A_LIMITS.maxTimeoutMs })),
  },
  { additionalProperties: false },
);
const problemsOf = compileValidator(PEER);

const PEER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SECRET = /^secret:([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;

/** The value of `a2a` in the config file. Throws A2aConfigError with the field. */
export function readA2aPeers(value: Json): readonly A2aPeer[] {
  if (!isJsonObject(value)) throw new A2aConfigError('a2a', 'must be an object with "peers".');
  const { peers, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new A2aConfigError(`a2a.${unknown}`, 'is unknown; there is "peers".');
  if (!isJsonObject(peers)) throw new A2aConfigError('a2a.peers', 'must be an object of peers by name.');
  const entries = Object.entries(peers);
  if (entries.length > A2A_LIMITS.peers)
    throw new A2aConfigError(
      'a2a.peers',
      `has ${entries.length} peers; at most ${A2A_LIMITS.peers} are allowed.`,
    );
  return entries.map(([name, entry]) => readPeer(name, entry));
}

function readPeer(name: string, entry: Json | undefined): A2aPeer {
  const field = `a2a.peers.${name}`;
  if (!PEER_NAME.test(name)) {
    throw new A2aConfigError(
      `a2a.peers["${name.slice(0, 64)}"]`,
      'is no name for a peer: use up to 64 letters, digits, ".", "_" and "-".',
    );
  }
  if (!isJsonObject(entry)) throw new A2aConfigError(field, 'must be an object with "url".');
  const [problem] = problemsOf(entry);
  if (problem !== undefined) {
    const end = problem.message.endsWith('?') ? '' : '.';
    throw new A2aConfigError(
      `${field}${problem.path.replaceAll('/', '.')}`,
      `is not valid: ${problem.message}${end}`,
    );
  }
  const given = entry as Static<typeof PEER>;
  const { binding = 'a2a', timeoutMs = A2A_LIMITS.defaultTimeoutMs } = given;
  const url = urlOf(given.url, `${field}.url`);
  return { name, url, secretId: secretOf(given.apiKey, `${field}.apiKey`), binding, timeoutMs };
}

function urlOf(given: string, field: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new A2aConfigError(field, 'must be an http or https URL.');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new A2aConfigError(
      field,
      'must have no user name, password, query or fragment. Put the key into "apiKey", as "secret:NAME".',
    );
  }
  return url;
}

function secretOf(given: string | undefined, field: string): string | undefined {
  if (given === undefined) return undefined;
  const [, secretId] = SECRET.exec(given) ?? [];
  if (secretId === undefined) {
    throw new A2aConfigError(
      field,
      'must be "secret:NAME". Keep the key out of the file, set it with: weft secrets set NAME',
    );
  }
  return secretId;
}
