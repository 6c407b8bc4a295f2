import type { RunUnit, Store, WriteUnit } from '@weft/engine';

/** Parts of the store port by the names they have there. */
export type DocumentUnit = Extract<WriteUnit, { kind: 'document' }>;
export type BlobUnit = Extract<WriteUnit, { kind: 'blob' }>;
export type Notice = NonNullable<RunUnit['notify']>[number];
export type DocumentPlace = Parameters<Store['readDocument']>[0];
export type StoredDocument = NonNullable<Awaited<ReturnType<Store['readDocument']>>>;
