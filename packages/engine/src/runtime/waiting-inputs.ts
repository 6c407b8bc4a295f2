import type { EffectRequest, Input, NumberedChunk } from '../core/step.ts';

/** What effects and children have reported to a run and it has not taken yet, in order. */
export interface WaitingInputs {
  push(input: Input): void;
  /** Pieces of one stream that come while the run is busy are recorded together. */
  pushChunk(effect: EffectRequest, chunk: NumberedChunk): void;
  shift(): Input | undefined;
  readonly length: number;
}

export function createWaitingInputs(): WaitingInputs {
  const inputs: Input[] = [];
  return {
    push: (input) => void inputs.push(input),
    pushChunk({ key, attempt }, chunk) {
      const last = inputs.at(-1);
      if (last?.type === 'progress' && last.key === key && last.attempt === attempt) {
        inputs[inputs.length - 1] = { ...last, chunks: [...last.chunks, chunk] };
      } else inputs.push({ type: 'progress', key, attempt, chunks: [chunk] });
    },
    shift: () => inputs.shift(),
    get length() {
      return inputs.length;
    },
  };
}
