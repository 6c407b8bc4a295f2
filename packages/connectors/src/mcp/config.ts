import { compileValidator, isJsonObject, type Json, mapOf, nameOf } from '@weft/protocol';
import { type Static, Type } from 'typebox';
import { MCP_LIMITS } from './limits.ts';

/** One entry of `mcpServers`, read and checked. */
export interface McpServer {
  readonly name: string;
  readonly reach: StdioServer | HttpServer;
  /** Names of tools that may be called, `*` for any characters. */
  readonly tools: readonly string[];
  /** Names of tools whose calls a person must approve; undefined: those that may destroy something. */
  readonly approve: readonly string[] | undefined;
  readonly timeoutMs: number;
}

export interface StdioServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, ConfiguredText>>;
  readonly cwd: string | undefined;
}

export interface HttpServer {
  readonly kind: 'http';
  readonly url: URL;
  readonly headers: Readonly<Record<string, ConfiguredText>>;
}

/** A text of the configuration, of which the end may be a secret of the operator: `secret:NAME`, `Bearer secret:NAME`. */
export interface ConfiguredText {
  readonly text: string;
  readonly secretId: string | undefined;
}

/** What is wrong, with the field it is wrong in. */
export class McpConfigError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.name = 'McpConfigError';
    this.field = field;
  }
}

const text = nameOf({ minLength: 1, maxLength: 8_192 });
const patterns = Type.Array(nameOf({ minLength: 1, maxLength: 256 }), { maxItems: 200 });
const ours = {
  tools: Type.Optional(patterns),
  approve: Type.Optional(Type.Union([Type.Literal('never'), patterns])),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: MCP_LIMITS.maxTimeoutMs })),
};
const texts = (maxLength: number) => mapOf<string>(Type.String({ maxLength }));

const STDIO = Type.Object(
  {
    type: Type.Optional(Type.Literal('stdio')),
    command: text,
    args: Type.Optional(Type.Array(Type.String({ maxLength: 8_192 }), { maxItems: 200 })),
    env: Type.Optional(texts(32_768)),
    cwd: Type.Optional(text),
    ...ours,
  },
  { additionalProperties: false },
);

const HTTP = Type.Object(
  {
    type: Type.Optional(Type.Enum(['http', 'streamable-http'])),
    url: text,
    headers: Type.Optional(texts(8_192)),
    ...ours,
  },
  { additionalProperties: false },
);

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const SECRET = /^(.* )?secret:([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** Headers that the transport sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
]);

const validators = { stdio: compileValidator(STDIO), http: compileValidator(HTTP) };

/** The value of `mcpServers` in the config file. Throws McpConfigError with the field. */
export function readMcpServers(value: Json): readonly McpServer[] {
  if (!isJsonObject(value)) throw new McpConfigError('mcpServers', 'must be an object of servers by name.');
  const entries = Object.entries(value);
  if (entries.length > MCP_LIMITS.servers) {
    throw new McpConfigError(
      'mcpServers',
      `has ${entries.length} servers; at most ${MCP_LIMITS.servers} are allowed.`,
    );
  }
  return entries.map(([name, entry]) => readServer(name, entry));
}

/** Ids of the operator's secrets that a server needs, with the field that names each. */
export function secretsOf({
  name,
  reach,
}: McpServer): readonly { readonly field: string; readonly secretId: string }[] {
  const [member, values] =
    reach.kind === 'stdio' ? (['env', reach.env] as const) : (['headers', reach.headers] as const);
  return Object.entries(values).flatMap(([key, { secretId }]) =>
    secretId === undefined ? [] : [{ field: `mcpServers.${name}.${member}.${key}`, secretId }],
  );
}

function readServer(name: string, entry: Json | undefined): McpServer {
  const field = `mcpServers.${name}`;
  if (!SERVER_NAME.test(name)) {
    throw new McpConfigError(
      `mcpServers["${name.slice(0, 64)}"]`,
      'is no name for a server: use up to 64 letters, digits, ".", "_" and "-".',
    );
  }
  if (!isJsonObject(entry)) throw new McpConfigError(field, 'must be an object with "command" or "url".');
  if ((entry['command'] === undefined) === (entry['url'] === undefined)) {
    throw new McpConfigError(
      field,
      'must have "command" (a process on this machine) or "url" (streamable HTTP), one of the two.',
    );
  }
  return entry['command'] === undefined ? readHttp(name, field, entry) : readStdio(name, field, entry);
}

function readStdio(name: string, field: string, entry: Json): McpServer {
  check('stdio', field, entry);
  const given = entry as Static<typeof STDIO>;
  const { command, args = [], cwd } = given;
  const env = configuredTexts(given.env ?? {});
  for (const variable of Object.keys(env)) {
    if (variable === '' || variable.includes('='))
      throw new McpConfigError(`${field}.env`, `holds "${variable}", which is no name of a variable.`);
  }
  return { name, reach: { kind: 'stdio', command, args, env, cwd }, ...readOurs(given) };
}

function readHttp(name: string, field: string, entry: Json): McpServer {
  check('http', field, entry);
  const given = entry as Static<typeof HTTP>;
  const url = URL.canParse(given.url) ? new URL(given.url) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new McpConfigError(`${field}.url`, 'must be an http or https URL.');
  if (url.username !== '' || url.password !== '') {
    throw new McpConfigError(
      `${field}.url`,
      'must not hold a user name or password. Put credentials into "headers", as "secret:NAME".',
    );
  }
  const headers = configuredTexts(given.headers ?? {});
  for (const header of Object.keys(headers)) {
    if (!HEADER_NAME.test(header))
      throw new McpConfigError(`${field}.headers`, `holds "${header}", which is no name of a header.`);
    if (OWN_HEADERS.has(header.toLowerCase()))
      throw new McpConfigError(`${field}.headers.${header}`, 'is set by the host; remove it.');
  }
  return { name, reach: { kind: 'http', url, headers }, ...readOurs(given) };
}

function readOurs({
  tools = ['*'],
  approve,
  timeoutMs = MCP_LIMITS.defaultTimeoutMs,
}: Pick<Static<typeof STDIO>, 'tools' | 'approve' | 'timeoutMs'>): Pick<
  McpServer,
  'tools' | 'approve' | 'timeoutMs'
> {
  return { tools, approve: approve === 'never' ? [] : approve, timeoutMs };
}

function configuredTexts(values: Readonly<Record<string, string>>): Record<string, ConfiguredText> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, configuredText(value)]));
}

function configuredText(value: string): ConfiguredText {
  const [, before = '', secretId] = SECRET.exec(value) ?? [];
  return secretId === undefined ? { text: value, secretId } : { text: before, secretId };
}

function check(kind: keyof typeof validators, field: string, entry: Json): void {
  const [first] = validators[kind](entry);
  if (first === undefined) return;
  const place =
    first.path === ''
      ? field
      : field + first.path.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const end = first.message.endsWith('?') ? '' : '.';
  throw new McpConfigError(place, `is not valid: ${first.message}${end}`);
}
