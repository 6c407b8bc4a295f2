import { endpointOf } from '@weft/protocol/plain';
import type { KeyHolder, OpenedSession, SignInCode } from '../documents.ts';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** Sign-in of people by a link. */
export interface Sessions {
  /** A code that opens one session, within a minute, with the scopes of one's own key. */
  createCode(): ApiPromise<SignInCode>;
  /** Exchanges a code for a session key. Needs no key. */
  open(code: string): ApiPromise<OpenedSession>;
  /** Whose key this client uses, what it may do, and until when. */
  current(): ApiPromise<KeyHolder>;
  /** Ends the session whose key this client uses. */
  end(): ApiPromise<void>;
}

export function createSessions(transport: Transport): Sessions {
  return {
    createCode: () => transport.json(endpointOf('createSignInCode')),
    // A code is good for one request: one whose answer was lost has used it up.
    open: (code) => transport.json(endpointOf('openSession'), { body: { code }, maxRetries: 0 }),
    current: () => transport.json(endpointOf('getSession')),
    end: () => transport.json(endpointOf('endSession')),
  };
}
