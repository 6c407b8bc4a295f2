import { type Static, Type } from 'typebox';
import { RunOptionsSchema, RunStatusSchema } from './runs.ts';
import { closed, count, namedValues, nameOf, nonEmpty, open, runId, uri } from './schema-parts.ts';

/** Runs that begin as others, where runs come from, and how a run stood earlier. */

const optional = Type.Optional;

const FORK_MODES = ['replay', 'branch'] as const;

const FORK_FIELDS = {
  mode: Type.Enum(FORK_MODES),
  fromSeq: optional(
    Type.Integer({
      minimum: 0,
      description:
        'The first sequence that the fork decides itself. Needed for a branch; default of a replay: 0, or where the branch began that it repeats.',
    }),
  ),
  runOptionsOverlay: optional(
    closed({ ...RunOptionsSchema.properties }, 'Laid over the options of the source. Branches only.'),
  ),
};

export const ForkRunSchema = closed(FORK_FIELDS);

/** The protocol's fork, and what Weft can change in addition to the options. */
export const HostForkRunSchema = closed({
  ...FORK_FIELDS,
  values: optional(
    Type.Unsafe<Static<typeof namedValues>>({
      ...namedValues,
      description: 'Inputs in place of the source’s, by name. Branches only.',
    }),
  ),
  workflowVersion: optional(
    nameOf({
      minLength: 1,
      description:
        'Another version of the same workflow; it must have every node the log knows. Branches only.',
    }),
  ),
});

export const ForkRunResponseSchema = open({
  runId,
  sourceRunId: runId,
  fromSeq: count,
  mode: Type.Enum(FORK_MODES),
  status: RunStatusSchema,
  eventsUrl: uri,
});

const ANCESTRY_CAUSES = ['mcp-tool-call', 'a2a-message', 'core.subWorkflow', 'core.dispatch'] as const;

/** Closed by the protocol, although a host sends it. */
export const AncestrySchema = closed({
  runId,
  hostId: nonEmpty,
  parent: Type.Union([
    Type.Null(),
    closed({
      runId,
      hostId: nonEmpty,
      wellKnownUrl: optional(uri),
      cause: Type.Enum(ANCESTRY_CAUSES),
    }),
  ]),
});

export type ForkRunRequest = Static<typeof ForkRunSchema>;
export type HostForkRunRequest = Static<typeof HostForkRunSchema>;
export type ForkRunResponse = Static<typeof ForkRunResponseSchema>;
export type Ancestry = Static<typeof AncestrySchema>;
