import type { OtherKeys } from '../suite/check.ts';

/** Keys for the checks that need more than one, where the host makes them; a mutant that only those catch is missed otherwise. */

const KEYS = '/v1/host/weft/keys';
const OTHER_SCOPES = [
  ...['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'runs:annotate'],
  ...['artifacts:read', 'webhooks:manage', 'approvals:respond'],
];

const WANTED: Readonly<Record<keyof OtherKeys, object>> = {
  lowScope: { scopes: ['runs:read'] },
  otherTenant: { tenant: 'other', scopes: OTHER_SCOPES },
  otherWorkspace: { workspace: 'other', scopes: OTHER_SCOPES },
};

export async function makeKeys(url: string, key: string): Promise<OtherKeys> {
  const made: Partial<Record<keyof OtherKeys, string>> = {};
  for (const [name, wanted] of Object.entries(WANTED) as [keyof OtherKeys, object][]) {
    const answer = await fetch(`${url}${KEYS}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ principal: name, kind: 'service', ...wanted }),
    });
    if (answer.status === 201) made[name] = ((await answer.json()) as { key: string }).key;
  }
  return made;
}
