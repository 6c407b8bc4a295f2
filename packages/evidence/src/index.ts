export { check, type CheckReport } from './check/check.ts';
export type { DocumentProblem } from './check/check-context.ts';
export { canonicalPath } from './contract/canonical-path.ts';
export { cross } from './contract/cross.ts';
export type { Declared } from './contract/declared.ts';
export { diff } from './contract/diff.ts';
export type {
  CapabilityDiff,
  CrossRuntimeDiff,
  Diff,
  OutcomeChange,
  Preconditions,
  Projection,
  SdkMetadata,
} from './contract/document.ts';
export {
  type CollectOptions,
  collectEvidence,
  type Evidence,
  type EvidenceCollector,
} from './contract/evidence.ts';
export { explain, type Explanation } from './contract/explain.ts';
export type { Effect, Problem, Side, SideProblem } from './contract/problem.ts';
export { renderDiff, writeDiff } from './contract/render.ts';
export { type Part, partValues, type SetDiff } from './contract/set-diff.ts';
export { CATEGORIES, type Category, NON_CLAIMS, RUNTIMES, type Status } from './contract/vocabulary.ts';
export { evidenceFromFiles, type EvidenceFiles } from './from-files.ts';
export {
  matrix,
  type Matrix,
  type MatrixCell,
  type MatrixRun,
  type MatrixValue,
  type Presence,
} from './matrix/matrix.ts';
export { matrixDocument, matrixText } from './matrix/matrix-document.ts';
export { htmlReport } from './report/html-report.ts';
export { reportModel, type ReportModel } from './report/report-model.ts';
export { explanationText, textReport } from './report/text-report.ts';
export { documentSchema, type JsonSchema, type Shape, SHAPES } from './schema.ts';
export { type RunSummary, show } from './show.ts';
