import { PRIVATE_INPUT } from '../workload/client.ts';
import type { EventDocument } from './history.ts';
import type { Check } from './rules.ts';
import { RECALLED } from '../workload/workflows.ts';

/** What is stored next to the logs: artifacts, memories, and what must be stored nowhere. */

export function nothingLeaks({ history, fact, report }: Check): void {
  const look = (text: string, where: string, runId?: string): void => {
    fact('C23');
    for (const [what, value] of Object.entries({ input: PRIVATE_INPUT, secret: history.secret }))
      if (text.includes(value))
        report('C23', `an ${what} stands in ${where}: ${text.slice(0, SHOWN)}`, runId);
  };
  for (const { runId, log } of history.runs) for (const text of log) look(text, 'the log', runId);
  for (const { body } of history.deliveries) look(body, 'a delivery');
  for (const { runId, events } of history.imports) for (const text of events) look(text, 'a bundle', runId);
  const used = history.effects.filter(({ secret }) => secret !== undefined);
  for (const { call, secret } of used) {
    fact('C23');
    if (secret !== history.secret) report('C23', `${call} came with another secret`);
  }
}

const SHOWN = 400;

export function artifactsWhole({ history, runs, fact, report }: Check): void {
  const sent = new Map<string, string>();
  for (const { call, sent: digest } of history.effects) if (digest !== undefined) sent.set(digest, call);
  for (const { runId, events, artifacts = [], fork, isImported } of runs.values()) {
    for (const { artifactId, digest, bytes } of artifacts) {
      fact('C24');
      if (digest !== bytes)
        report('C24', `${artifactId} should be ${digest}, and its bytes are ${bytes}`, runId);
      if (!sent.has(digest)) report('C24', `${artifactId} is nothing that the service has sent`, runId);
    }
    if (fork !== undefined || isImported === true) continue;
    for (const { artifactId, digest } of events.flatMap(artifactsIn)) {
      const kept = artifacts.find((artifact) => artifact.artifactId === artifactId);
      if (kept?.digest !== digest)
        report('C24', `the log names ${artifactId} with ${digest}, which is ${String(kept?.digest)}`, runId);
    }
  }
}

interface Reference {
  readonly artifactId: string;
  readonly digest: string;
}

function artifactsIn({ type, payload }: EventDocument): Reference[] {
  if (type !== 'node.completed') return [];
  const { outputs } = payload as { outputs?: { artifact?: Reference; output?: Reference } };
  const found = outputs?.artifact ?? outputs?.output;
  return typeof found?.artifactId === 'string' ? [found] : [];
}

interface Entry {
  readonly id: string;
  readonly content: string;
}

export function memoriesKept({ runs, fact, report }: Check): void {
  const recalled = new Map<string, Set<string>>();
  for (const { workflowId, events, runId } of runs.values()) {
    if (!workflowId.startsWith(RECALL)) continue;
    const entries = events.flatMap(entriesIn);
    recalled.set(workflowId.slice(RECALL.length), new Set(entries.map(({ id }) => id)));
    const tags = new Set(entries.map(({ content }) => content));
    if (tags.size < entries.length) report('C25', 'what one run said is remembered twice', runId);
  }
  for (const { runId, events } of runs.values()) {
    for (const { memoryId, memoryRef } of events.flatMap(rememberedIn)) {
      const kept = recalled.get(memoryRef);
      // A memory shows its newest entries only.
      if (kept === undefined || kept.size >= RECALLED) continue;
      fact('C25');
      if (!kept.has(memoryId)) report('C25', `${memoryId} was remembered, and is not there`, runId);
    }
  }
}

interface Remembered {
  readonly memoryId: string;
  readonly memoryRef: string;
}

function rememberedIn({ type, nodeId, payload }: EventDocument): Remembered[] {
  if (type !== 'node.completed' || nodeId?.startsWith('keep-') !== true) return [];
  return [payload['outputs'] as Remembered];
}

const RECALL = 'recall-';

function entriesIn({ type, payload }: EventDocument): Entry[] {
  if (type !== 'node.completed') return [];
  const { outputs } = payload as { outputs?: { output?: unknown } };
  return Array.isArray(outputs?.output) ? (outputs.output as Entry[]) : [];
}
