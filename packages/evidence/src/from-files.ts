import { type CollectOptions, collectEvidence, type Evidence } from './contract/evidence.ts';

/** The files of a run by name. Text is taken as UTF-8. */
export type EvidenceFiles = Readonly<Record<string, Uint8Array | string>>;

/** Evidence from files already in memory: in a browser, in a test, from any other transport. */
export function evidenceFromFiles(files: EvidenceFiles, options: CollectOptions = {}): Evidence {
  const collector = collectEvidence(options);
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const sink = collector.open(name, bytes.length);
    sink?.write(bytes);
    sink?.end();
  }
  return collector.finish();
}
