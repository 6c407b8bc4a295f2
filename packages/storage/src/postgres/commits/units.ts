import type { RunUnit, Store, WriteUnit } from '@weft/engine';

/** Parts of the store port by the names they have there. */
export type DocumentUnit = Extract<WriteUnit, { kind: 'document' }>;
export type BlobUnit = Extract<WriteUnit, { kind: 'blob' }>;
export type PurgeUnit = Extract<WriteUnit, { kind: 'purge' }>;
export type EraseUnit = Extract<WriteUnit, { kind: 'erase' }>;
export type Signal = NonNullable<RunUnit['notify']>[number];
export type DocumentPlace = Parameters<Store['readDocument']>[0];
export type Tombstone = NonNullable<Awaited<ReturnType<Store['readTombstone']>>>;
export type ExpiredRun = Awaited<ReturnType<Store['listExpired']>>['rows'][number];
export type StoredDocument = NonNullable<Awaited<ReturnType<Store['readDocument']>>>;
