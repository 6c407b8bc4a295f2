import type { StopSignal } from '../../model/node-type.ts';

/**
 * Ends one effect, or one answer that stays open. Nearly no effect is ever stopped, and an AbortController costs more than the
 * rest of its bookkeeping, so one is made only for those who ask for it.
 */
export class StopSource implements StopSignal {
  aborted = false;
  #listeners: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }

  asAbortSignal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  stop(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#controller?.abort();
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener();
  }
}
