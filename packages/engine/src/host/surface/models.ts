import type { ModelListDocument, ModelTest } from '@weft/protocol';
import type { Caller } from './caller.ts';

/** Language models of the host. */
export interface ModelCatalogue {
  list(caller: Caller): ModelListDocument;
  /** Asks one for a word, outside of any run; the default where none is named. What goes wrong is part of the answer. */
  test(caller: Caller, model: string | undefined): Promise<ModelTest>;
}
