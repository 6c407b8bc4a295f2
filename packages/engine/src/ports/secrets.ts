/** Where the values of secrets come from. Only effects ask, through their `secrets` port. */
export interface SecretResolver {
  resolve(owner: SecretOwner, secretId: string): Promise<Resolution>;
}

/** On whose behalf: the run's tenant, and the principal who started it. */
interface SecretOwner {
  readonly tenant: string;
  readonly principal: string | undefined;
}

export type Resolution =
  | { readonly state: 'resolved'; readonly value: string }
  | { readonly state: 'missing' }
  /** There is one, but it was sealed with another key, or has been tampered with. */
  | { readonly state: 'unreadable' }
  /** The host has no key for secrets. */
  | { readonly state: 'off' };
