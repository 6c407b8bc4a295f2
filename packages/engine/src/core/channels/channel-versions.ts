import { eventId } from '@weft/protocol';
import { NodeFailure } from '../../model/node-type.ts';
import type { LiveRun } from '../decide/live-run.ts';
import type { ChannelPlan } from '../compile/plan.ts';
import { firstProblem } from '../expressions/schema-problem.ts';

/**
 * Entries that were written under another version of a channel's schema: in the prefix of a branch that runs another version of
 * the workflow. They are evaluated when the run next reads or writes the channel.
 *
 * E-16. The declared version, and every higher one, are folded as they are.
 * E-17. A lower version must be listed in `compatibleWith`, and the channel's value must then fit the declared schema.
 */
export function checkVersions(run: LiveRun, name: string): void {
  const seen = run.state.channelVersions.get(name);
  const channel = run.plan.channels.get(name);
  if (seen === undefined || channel === undefined) return;
  const older = seen.filter(([version]) => version < channel.schemaVersion);
  const [first] = older;
  if (first === undefined) return;
  const unlisted = older.find(([version]) => !channel.compatibleWith.includes(version));
  if (unlisted !== undefined) {
    const hint = `Add ${unlisted[0]} to the channel's compatibleWith if its entries fit the new schema, or start a new run.`;
    throw breakingChange(run, channel, unlisted, 'is not listed in compatibleWith', hint);
  }
  const problem = schemaProblem(run, channel);
  if (problem !== undefined) {
    const hint = 'Widen the schema so that it takes the earlier entries, or start a new run.';
    throw breakingChange(run, channel, first, `does not fit the declared schema: ${problem}`, hint);
  }
}

function schemaProblem(run: LiveRun, { name, schema }: ChannelPlan): string | undefined {
  const held = run.state.channels.get(name);
  if (schema === undefined || held === undefined) return undefined;
  return firstProblem(schema, held, run.budget)?.message;
}

function breakingChange(
  run: LiveRun,
  { name, schemaVersion }: ChannelPlan,
  [version, seq]: readonly [version: number, seq: number],
  complaint: string,
  migrationHint: string,
): NodeFailure {
  return new NodeFailure(
    'channel_schema_breaking_change',
    `Channel "${name}" holds entries of schema version ${version}, which ${complaint}. ${migrationHint}`,
    {
      details: {
        channel: name,
        currentSchemaVersion: schemaVersion,
        incompatibleEventVersion: version,
        incompatibleEventId: eventId(run.record.runId, seq),
        migrationHint,
      },
    },
  );
}
