import type { Caller } from './caller.ts';

/** Sign-in of people by a link: a code that is valid once and for a minute, exchanged for a key that lasts for a working day. */
export interface Sessions {
  /** A code for a session with what the caller may do, and no more. Throws `forbidden` for a caller that is in a session itself. */
  createCode(caller: Caller): Promise<SignInCode>;
  /** Throws `sign_in_code_invalid` when there is no such code, or it was used, or its time is over. */
  open(code: string, address?: string): Promise<OpenedSession>;
  /** Ends the caller's own session. False when it is in none. */
  end(caller: Caller): Promise<boolean>;
}

export interface SignInCode {
  readonly code: string;
  readonly expiresAt: number;
}

export interface OpenedSession {
  /** Shown once; the store holds its hash. */
  readonly key: string;
  readonly caller: Caller;
  readonly expiresAt: number;
}
