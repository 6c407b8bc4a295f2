/** Every scope a key can hold on this host. The protocol's own come first, ours after. */
export const SCOPES = {
  'manifest:read': 'Read workflow definitions.',
  'runs:create': 'Start runs.',
  'runs:read': 'Read runs, their events and streams.',
  'runs:cancel': 'Cancel, pause and resume runs.',
  'runs:annotate': 'Annotate runs.',
  'artifacts:read': 'Read artifacts of runs.',
  'webhooks:manage': 'Register and remove webhooks.',
  'approvals:respond': 'Answer interrupts.',
  'prompts:read': 'Read and render prompt templates.',
  'prompts:write': 'Add and remove prompt templates.',
  'audit:read': 'Read the audit log.',
  'packs:publish':
    'Publish packs to the registry of this host, take them back, deprecate them, and rotate keys.',
  'packs:yank': 'Withdraw versions of packs from the registry of this host.',
  'packs:yank-revert': 'Let withdrawn versions of packs be installed again.',
  'workflows:write': 'Register workflows.',
  'workers:serve': 'Serve node types as a worker.',
  'keys:manage': 'Create, list and revoke keys.',
  'keys:impersonate': 'Create keys for other principals, of the other kind, and in other tenants.',
  'secrets:manage': 'Store and remove secrets.',
  'schedules:manage':
    'Make, list and remove schedules and webhook triggers, and replay what they could not start.',
  'host:admin': 'Act for every tenant and read the host’s own state.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

export const ALL_SCOPES = Object.keys(SCOPES) as readonly Scope[];

export function isScope(name: string): name is Scope {
  return Object.hasOwn(SCOPES, name);
}
