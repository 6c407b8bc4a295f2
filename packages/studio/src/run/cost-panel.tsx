import { useMemo } from 'react';
import type { RunDocument, RunEventDocument } from '@weft/sdk';
import { oneLine } from '../ui/shown-text.ts';
import { Empty } from '../ui/states.tsx';
import { durationText } from '../ui/time-text.ts';
import { rollupOf, type Usage, usageAt, type UsageRow, usdText } from './usage.ts';

interface CostPanelProps {
  readonly run: RunDocument;
  readonly events: readonly RunEventDocument[];
  readonly length: number;
  readonly at: number;
}

/** What language models have used, up to the moment that is looked at. */
export function CostPanel({ run, events, length, at }: CostPanelProps) {
  const { total, byModel, byNode } = useMemo(() => usageAt(events, at), [events, length, at]);
  const rollup = at >= length - 1 ? rollupOf(run) : undefined;
  if (total.calls === 0 && rollup === undefined)
    return (
      <Empty title="No language model was asked">
        <p>Tokens and prices of every call appear here.</p>
      </Empty>
    );
  return (
    <div className="stack">
      <dl className="figures">
        <Figure name="Cost" value={total.usd === undefined ? 'not priced' : usdText(total.usd)} />
        <Figure name="Input tokens" value={total.inputTokens.toLocaleString('en')} />
        <Figure name="Output tokens" value={total.outputTokens.toLocaleString('en')} />
        {total.cachedTokens > 0 && (
          <Figure name="Read from cache" value={total.cachedTokens.toLocaleString('en')} />
        )}
        <Figure name="Calls" value={total.calls.toLocaleString('en')} />
        {rollup?.durationMs !== undefined && (
          <Figure name="Time of models" value={durationText(rollup.durationMs)} />
        )}
      </dl>
      <UsageTable of="Model" rows={byModel} />
      <UsageTable of="Node" rows={byNode} />
      {rollup !== undefined && (
        <p className="muted small">
          The host’s own sum for this run: {(rollup.tokens ?? 0).toLocaleString('en')} tokens
          {rollup.usd !== undefined && `, ${usdText(rollup.usd)}`}.
        </p>
      )}
      {total.usd === undefined && (
        <p className="muted small">Prices are shown for models whose prices the host knows.</p>
      )}
    </div>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const MAX_ROWS = 100;

function UsageTable({ of, rows }: { readonly of: string; readonly rows: readonly UsageRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>By {of.toLowerCase()}</h2>
      <div className="table-wrap">
        <table className="table usage">
          <thead>
            <tr>
              <th scope="col">{of}</th>
              {COLUMNS.map(({ name }) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_ROWS).map((row) => (
              <tr key={row.name}>
                <td>{oneLine(row.name, 120)}</td>
                {COLUMNS.map(({ name, text }) => (
                  <td key={name} className="number">
                    {text(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MAX_ROWS && <p className="muted small">and {rows.length - MAX_ROWS} more</p>}
    </section>
  );
}

const COLUMNS: readonly { readonly name: string; readonly text: (usage: Usage) => string }[] = [
  { name: 'Calls', text: ({ calls }) => calls.toLocaleString('en') },
  { name: 'Input', text: ({ inputTokens }) => inputTokens.toLocaleString('en') },
  { name: 'Output', text: ({ outputTokens }) => outputTokens.toLocaleString('en') },
  { name: 'Cost', text: ({ usd }) => (usd === undefined ? '–' : usdText(usd)) },
];
