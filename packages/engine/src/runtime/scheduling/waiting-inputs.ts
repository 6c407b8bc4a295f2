import type { EffectRequest, Input, NumberedChunk } from '../../core/decide/step.ts';

/** What effects and children have reported to a run and it has not taken yet, in order. */
export interface WaitingInputs {
  push(input: Input): void;
  /** Pieces of one stream that come while the run is busy are recorded together. */
  pushChunk(effect: EffectRequest, chunk: NumberedChunk): void;
  shift(): Input | undefined;
  readonly length: number;
}

export function createWaitingInputs(): WaitingInputs {
  return new InputQueue();
}

/** A class because every run under way has one. */
class InputQueue implements WaitingInputs {
  readonly #inputs: Input[] = [];

  get length(): number {
    return this.#inputs.length;
  }

  push(input: Input): void {
    this.#inputs.push(input);
  }

  pushChunk({ key, attempt }: EffectRequest, chunk: NumberedChunk): void {
    const last = this.#inputs.at(-1);
    if (last?.type === 'progress' && last.key === key && last.attempt === attempt) {
      this.#inputs[this.#inputs.length - 1] = { ...last, chunks: [...last.chunks, chunk] };
    } else this.push({ type: 'progress', key, attempt, chunks: [chunk] });
  }

  shift(): Input | undefined {
    return this.#inputs.shift();
  }
}
