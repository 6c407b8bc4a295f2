import { GOALS, type Goal, evaluateCriterion, type EvaluatedCriterion, outcomeOf } from './goals.ts';
import { FIGURE_HEAD, figureRow } from './report.ts';
import type { Results, ScenarioResult } from './results.ts';
import { markdownTable, show, showRatio } from './table.ts';
import { WARM_UP } from '../measuring/warm-up.ts';

/** docs/bench.md as a pure function of the JSON file. Nothing in it is written by hand. */
export function renderPage(results: Results): string {
  return [intro(results), goals(results), METHOD, ...results.scenarios.map(scenario)].join('\n');
}

function intro({ at, machine, quick, scenarios }: Results): string {
  const failed = scenarios.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
  const day = at.slice(0, 16).replace('T', ' ');
  return `# Measurements

Written by \`npm run bench\` on ${day} UTC: ${machine.cores} cores (${escape(machine.cpu)}), Node ${machine.node.slice(1)}, ${machine.platform}, with
the load client next to the host. What carries from one machine to another is the ratios: host and raw limit were measured in turn
in the same minutes. Figures never fail a build; CI does not run this.
${quick ? '\n**Small sizes: a smoke test of the bench, no statement about the host.**\n' : ''}${
  failed.length === 0 ? '' : `\n**These scenarios failed and have no figures: ${failed.join(', ')}.**\n`
}
![Goals and memory](bench.svg)
`;
}

function goals(results: Results): string {
  const evaluated = GOALS.map((goal) => ({
    goal,
    criteria: goal.criteria.map((criterion) => evaluateCriterion(results, criterion)),
  }));
  const count = (outcome: string) =>
    evaluated.filter(({ criteria }) => outcomeOf(criteria) === outcome).length;
  return `## Goals

${count('holds')} hold, ${count('does not hold')} do not, ${count('not measured')} were not (wholly) measured here.

${evaluated.map(({ goal, criteria }) => goalText(goal, criteria)).join('\n')}`;
}

function goalText({ id, text, remark }: Goal, criteria: readonly EvaluatedCriterion[]): string {
  const head = `**${id}: ${outcomeOf(criteria)}.** ${text}.${remark === undefined ? '' : ` ${remark}`}\n`;
  if (criteria.length === 0) return head;
  const rows = criteria.map(({ title, of, bound, limit, unit, measured, holds }) => [
    title,
    `${bound} ${show(limit)}${of === 'ratio' ? ' ×' : unit === '' ? '' : ` ${unit}`}`,
    of === 'ratio' ? showRatio(measured) : show(measured),
    holds === undefined ? 'not measured' : holds ? 'yes' : '**no**',
  ]);
  return `${head}\n${markdownTable(['figure', 'goal', 'measured', 'holds'], rows)}`;
}

const METHOD = `## Method

- **Workloads.** A client creates a run and follows its stream to the terminal event. **A**: one no-op node. **B**: ten in sequence.
  **E**: ten HTTP calls in sequence to a loopback server, each outcome durable before the next starts.
- **Durable, always.** SQLite with WAL and \`synchronous=FULL\`, PostgreSQL with \`synchronous_commit=on\`, for the host and for everything
  it is compared with.
- **The bare sketch** (\`packages/bench/src/raw\`) does the work and nothing else: Fastify, one group commit per turn of the event loop, the
  same rows with the same payloads, POST and SSE. No validation, tenants, idempotency, claims or recovery.
- **Rounds.** Three, contenders in turn within each. A ratio is taken within a round; tables show the median and the range over the
  rounds. A wide range means that the machine was busy with something else.
- **Warm-up.** V8 optimises what has run often: the first thousands of runs cost up to twice as much as later ones, for the sketch and
  the peers too. Every contender serves the workload for ${WARM_UP.seconds} s with ${WARM_UP.clients} clients before its first measured window. Those runs are
  not timed; they are stored, and so count in the bytes per run.
- **Peers** (\`packages/bench/peers\`) are other durable engines, installed apart; its README says which settings each has. Those without
  HTTP run their clients in their own process.
- **Evidence** is one diff of two runs by a new process, from its start to its end. The published script that G13 names is not here; a
  plain one of ours (parse, set, sort, dump) stands for it, scaled by what both took on one machine.
- **CPU per run** is user and system time of the server's process; **bytes per run** the growth of the file after a checkpoint, or of
  the schema with its indexes.
- **Commit to receipt** is from the event's own time, taken just before its commit, to its receipt by the subscriber.
- **Long logs and full stores** are written through the store port, after the pattern of a run that a real host has executed.

One scenario alone: \`npm run bench -- --only sse\`; their names: \`-- --list\`; a first look in small sizes: \`-- --quick\`; this page again from
the JSON file: \`-- --render\`.
`;

function scenario({ name, title, rawLimit, at, seconds, failure, figures }: ScenarioResult): string {
  const when = `Measured ${at.slice(0, 16).replace('T', ' ')} UTC in ${show(seconds)} s.`;
  const trouble = failure === undefined ? '' : `\n**Failed:** ${escape(failure)}\n`;
  const table = figures.length === 0 ? '' : `\n${markdownTable(FIGURE_HEAD, figures.map(figureRow))}`;
  return `## ${title} (\`${name}\`)

Raw limit: ${rawLimit}. ${when}
${trouble}${table}`;
}

/** Words from outside, such as an error's, are not to become markup. */
function escape(text: string): string {
  return text.replaceAll(/[\\`*_<>|[\]]/g, (mark) => `\\${mark}`).replaceAll(/\s+/g, ' ');
}
