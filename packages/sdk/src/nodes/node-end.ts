import type { TaskReport } from '@weft/protocol/plain';

type Result = NonNullable<TaskReport['results']>[number];

/** How a call of a function ends that uses its run: with outputs and what it sets, or with a question and what the next call is to know. */
export type NodeEndParts =
  | (Pick<Result, 'variables' | 'channels'> & { readonly outputs: object })
  | (Pick<Result, 'record'> & { readonly ask: NonNullable<Result['ask']> });

/** Returned in place of outputs. Once a question is answered the function is called again, from the start, with the answer in `run.answers`. */
export class NodeEnd {
  readonly parts: NodeEndParts;

  constructor(parts: NodeEndParts) {
    this.parts = parts;
  }
}
