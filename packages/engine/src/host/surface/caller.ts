export interface Caller {
  readonly tenant: string;
  readonly principal: string;
  /** A part of the tenant: of its runs, those of other parts are closed to this caller. */
  readonly workspace?: string;
  /** Names the credential, for rate limits and the audit log; of an API key its id. */
  readonly keyId: string;
  readonly kind: 'service' | 'user';
  readonly test: boolean;
  readonly scopes: ReadonlySet<string>;
  /** When the credential ends. */
  readonly expiresAt?: number;
  /** Where the request came from, for the audit log. */
  readonly address?: string;
}

export type Authentication =
  | { readonly state: 'ok'; readonly caller: Caller }
  | { readonly state: 'unknown' | 'expired' | 'revoked' };

/** A client's Idempotency-Key, with what the request was. */
export interface IdempotencyClaim<Outcome> {
  readonly operation: string;
  readonly keyHash: string;
  readonly requestDigest: string;
  /** Turns the outcome into the bytes to answer, now and on every repeat. */
  readonly render: (outcome: Outcome) => { readonly status: number; readonly body: string };
}

/** The stored answer to an earlier request with the same key and content. */
export interface ReplayedAnswer {
  readonly replayed: true;
  readonly status: number;
  readonly body: string;
}

export type RememberedAnswer<Outcome> =
  | { readonly replayed: false; readonly outcome: Outcome }
  | ReplayedAnswer;
