/** What `weft conformance` takes; the commands' parsers and help texts are made from this. Imports nothing: help must be quick. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly valueHint?: string;
  readonly description: string;
  readonly isRepeatable?: boolean;
}

export const CONFORMANCE_FLAGS = {
  url: { type: 'string', valueHint: 'URL', description: 'The host to test (default WEFT_URL)' },
  'key-file': {
    type: 'string',
    valueHint: 'FILE',
    description: 'File with the key to use (default: the environment variable WEFT_API_KEY)',
  },
  report: {
    type: 'string',
    valueHint: 'FILE',
    description: 'Write a report: .json, .xml (JUnit) or .html; may be repeated',
    isRepeatable: true,
  },
  only: {
    type: 'string',
    valueHint: 'PATTERN',
    description: 'Only checks whose id, or a requirement of which, matches; * stands for any text',
  },
  profile: { type: 'string', valueHint: 'NAME', description: 'Only what this profile requires' },
  strict: {
    type: 'boolean',
    description: 'Exit with 4 unless the profile (default: each that the host claims) is proven whole',
  },
  offline: { type: 'boolean', description: 'Check documents, schemas and fixtures alone; needs no host' },
  launch: {
    type: 'string',
    valueHint: 'COMMAND',
    description:
      'Starts a process of the host, with {port}, {data} and {key} filled in; for checks that kill it',
  },
  'webhook-port': {
    type: 'string',
    valueHint: 'N',
    description: 'Receive webhooks and callbacks on this port',
  },
  'otlp-port': {
    type: 'string',
    valueHint: 'N',
    description: 'Receive traces (OTLP over HTTP, JSON) on this port',
  },
  'mcp-port': {
    type: 'string',
    valueHint: 'N',
    description: 'Serve the tool echo over MCP on this port',
  },
  'a2a-port': {
    type: 'string',
    valueHint: 'N',
    description: 'Be an agent with the skill echo (A2A, plain endpoints) on this port',
  },
  'policy-providers': {
    type: 'string',
    valueHint: 'MODE=NAME,…',
    description: 'Providers of models by their policy: optional, disabled, required and restricted',
  },
  'low-scope-key-file': {
    type: 'string',
    valueHint: 'FILE',
    description: 'A key of the same tenant with runs:read alone',
  },
  'other-tenant-key-file': { type: 'string', valueHint: 'FILE', description: 'A key of another tenant' },
  'other-workspace-key-file': {
    type: 'string',
    valueHint: 'FILE',
    description: 'A key of a workspace of the same tenant',
  },
  explain: {
    type: 'string',
    valueHint: 'ID',
    description: 'Show all about one requirement or check: what is asked, answered and expected',
  },
  timeout: { type: 'string', valueHint: 'SECONDS', description: 'How long an answer may take (default 15)' },
  concurrency: { type: 'string', valueHint: 'N', description: 'Checks side by side, 1 to 16 (default 4)' },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof CONFORMANCE_FLAGS;

export const CONFORMANCE_EXAMPLES = [
  'weft conformance --url http://127.0.0.1:7878 --key-file .weft/key',
  'weft conformance --url http://127.0.0.1:7878 --only "streams/*" --report streams.html',
  'weft conformance --launch "weft serve --conformance --port {port} --data {data}" --strict',
  'weft conformance --url http://127.0.0.1:7878 --explain DIFF-3',
  'weft conformance --offline',
];

export const CONFORMANCE_EXITS =
  'Exit codes: 0 nothing failed, 1 a requirement failed, 2 wrong usage, 3 no host to test, 4 strict mode is not met.';

export const CONFORMANCE_SUMMARY = 'Test any OpenWOP host against the protocol';
