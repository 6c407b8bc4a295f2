import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolContext } from '@weft/engine';

/** The effect for which a message is sent. One connection serves many, and its transport sees messages only. */
export const callScope = new AsyncLocalStorage<Pick<ToolContext, 'egress' | 'holdsClaim' | 'signal'>>();

/** Thrown by transports when the claim of the run was lost: nothing has been sent. */
export class NotSentError extends Error {
  constructor() {
    super('The run is not held by this process any more; nothing was sent.');
    this.name = 'NotSentError';
  }
}
