import { isJsonObject, type Json } from '@weft/protocol';
import type { WorkflowProblem } from '../../host/host.ts';
import { pointer } from './problems.ts';
import { credentialMember, credentialSpans, redactDeep } from '../redaction/scan/credential-text.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** More are not looked for: the author has seen enough to look for the others. */
const MAX_FOUND = 50;
/** A text is looked at in windows of this many characters, which overlap, so that others get their turn meanwhile. */
const WINDOW = 65_536;
const OVERLAP = 4_096;
/** Coming to a value takes as long as reading some characters, however short it is. */
const PER_VALUE = 32;

/**
 * Credentials in a definition, names of members included. Every reader of the definition could see them, and they would stay
 * in the store for as long as any run of it; a secret is named by its id instead.
 */
export function* credentialsInDefinition(definition: unknown): CooperativeTask<WorkflowProblem[]> {
  const found: WorkflowProblem[] = [];
  let scanned = 0;

  function* kindIn(text: string): CooperativeTask<string | undefined> {
    for (let from = 0; from < text.length; from += WINDOW - OVERLAP) {
      const [span] = credentialSpans(text.slice(from, from + WINDOW), 'deep');
      if (span !== undefined) return span.shape.name;
      yield* count(Math.min(WINDOW, text.length - from));
    }
    return undefined;
  }

  function* count(characters: number): CooperativeTask<void> {
    scanned += characters;
    if (scanned < WINDOW) return;
    scanned = 0;
    yield;
  }

  function* look(value: Json, path: readonly (string | number)[]): CooperativeTask<void> {
    if (found.length >= MAX_FOUND) return;
    yield* count(PER_VALUE);
    if (typeof value === 'string') {
      const kind = yield* kindIn(value);
      if (kind !== undefined) found.push(problem(path, kind));
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield* look(item, [...path, index]);
    } else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) yield* lookAtMember(name, member, path);
    }
  }

  function* lookAtMember(
    name: string,
    member: Json,
    path: readonly (string | number)[],
  ): CooperativeTask<void> {
    const kind = yield* kindIn(name);
    // The name itself is what must not be repeated.
    const place = [...path, kind === undefined ? name : redactDeep(name)];
    if (kind !== undefined) found.push(problem(place, kind));
    const shape = typeof member === 'string' ? credentialMember(name, member) : undefined;
    if (shape === undefined) yield* look(member, place);
    else found.push(problem(place, shape.name));
  }

  yield* look(definition as Json, []);
  return found;
}

function problem(path: readonly (string | number)[], kind: string): WorkflowProblem {
  return {
    path: pointer(...path),
    code: 'credential_in_definition',
    message: `This looks like a credential (${kind}). Keep it as a secret (weft secrets set NAME) and name that here instead.`,
  };
}
