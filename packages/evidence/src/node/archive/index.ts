/** The strict reader of gzip and tar, without a word about evidence: packs are read by it too. */
export { ArchiveError } from './archive-error.ts';
export { gunzipBytes } from './gunzip.ts';
export { nameProblem } from './member-name.ts';
export { type MemberSink, type TarRules, tarReader, trailing } from './tar-reader.ts';
