import type { Annotation, AnnotationCreate } from '@weft/protocol/plain';

export const KINDS = {
  rating: 'Rating',
  label: 'Label',
  flag: 'Flag for review',
  correction: 'Correction',
} as const;
export type DraftKind = keyof typeof KINDS;

/** An annotation as it is typed. */
export interface Draft {
  readonly kind: DraftKind;
  readonly rating: string;
  /** The label, or the correction. */
  readonly text: string;
  /** Empty: about the whole run. */
  readonly nodeId: string;
  readonly note: string;
}

export const blankDraft: Draft = { kind: 'rating', rating: '5', text: '', nodeId: '', note: '' };

/** What is sent, or what is missing, in words. */
export function toAnnotation({ kind, rating, text, nodeId, note }: Draft): AnnotationCreate | string {
  const typed = text.trim();
  if ((kind === 'label' || kind === 'correction') && typed === '') return `${KINDS[kind]} is needed.`;
  return {
    signal: signalOf(kind, rating, typed),
    ...(nodeId !== '' && { target: { nodeId } }),
    ...(note.trim() !== '' && { note: note.trim() }),
  };
}

function signalOf(kind: DraftKind, rating: string, text: string): AnnotationCreate['signal'] {
  switch (kind) {
    case 'rating':
      return { kind, rating: Number(rating) };
    case 'label':
      return { kind, label: text };
    case 'correction':
      return { kind, correction: text };
    case 'flag':
      return { kind };
  }
}

export function signalText({ kind, rating, label, correction }: Annotation['signal']): string {
  if (kind === 'rating') return `${rating ?? '?'} of 5`;
  return label ?? correction ?? 'for review';
}
