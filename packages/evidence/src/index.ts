export { evidenceFromFiles, type EvidenceFiles } from './from-files.ts';
export { type CollectOptions, collectEvidence, type Evidence, type EvidenceCollector } from './contract/evidence.ts';
export { diff } from './contract/diff.ts';
export { cross } from './contract/cross.ts';
export { renderDiff, writeDiff } from './contract/render.ts';
