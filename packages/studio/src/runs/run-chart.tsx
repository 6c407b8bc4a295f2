import { changeQuery, useEvery, useLoaded, useSigned } from '../app/hooks.ts';
import { clockText, dayText, timeText } from '../ui/time-text.ts';
import { barsOf, chartSpan, type RunBar, totalsOf } from './run-bars.ts';
import { hostFilter, type RunFilters, STATUS_GROUPS } from './run-filters.ts';

const REFRESH_MS = 10_000;

/** Runs over time by status. A bar filters the list by its time, a status by itself; what the bars say is also their label. */
export function RunChart({ filters }: { readonly filters: RunFilters }) {
  const { client } = useSigned();
  // What the chart itself filters by is not left out of it.
  const { from, until, ...others } = filters;
  const [counts, reload] = useLoaded(async () => {
    const now = Date.now();
    return await client.runs.counts({ ...hostFilter(others, now), ...chartSpan(filters, now) });
  }, [others]);
  useEvery(REFRESH_MS, reload);
  // The list says what is wrong with a connection.
  if (counts.value === undefined) return <div className="run-chart" aria-hidden="true" />;
  const bars = barsOf(counts.value);
  const totals = totalsOf(bars);
  const highest = Math.max(1, ...bars.map(({ total }) => total));
  return (
    <section className="run-chart" aria-label="Runs over time">
      <div className="bars" role="group" aria-label="Choose a time">
        {bars.map((bar) => (
          <Bar
            key={bar.from}
            bar={bar}
            highest={highest}
            isChosen={from === String(bar.from) && until === String(bar.until)}
          />
        ))}
      </div>
      <div className="chart-foot small muted">
        <span>{bars[0] === undefined ? '' : timeText(bars[0].from)}</span>
        <div className="row wrap" role="group" aria-label="Choose a status">
          {Object.keys(STATUS_GROUPS).map((group) => (
            <button
              key={group}
              type="button"
              className={`chart-key ${group}`}
              aria-pressed={filters.status === group}
              onClick={() => changeQuery({ status: filters.status === group ? undefined : group })}
            >
              <i aria-hidden="true" />
              {(totals[group] ?? 0).toLocaleString('en')} {group}
            </button>
          ))}
        </div>
        <span>now</span>
      </div>
      {counts.value.countedSince !== undefined && (
        <p className="small muted">
          There are too many to count them all: only those created since{' '}
          {timeText(Date.parse(counts.value.countedSince))} are counted.
        </p>
      )}
    </section>
  );
}

interface BarProps {
  readonly bar: RunBar;
  readonly highest: number;
  readonly isChosen: boolean;
}

function Bar({ bar, highest, isChosen }: BarProps) {
  const choose = (): void =>
    changeQuery(
      isChosen
        ? { from: undefined, until: undefined }
        : { from: String(bar.from), until: String(bar.until), within: undefined },
    );
  return (
    <button
      type="button"
      className="chart-bar"
      aria-pressed={isChosen}
      aria-label={labelOf(bar)}
      title={labelOf(bar)}
      disabled={bar.total === 0 && !isChosen}
      onClick={choose}
    >
      {Object.entries(bar.groups).map(([group, count]) => (
        <i key={group} className={group} style={{ height: `${(count / highest) * 100}%` }} />
      ))}
    </button>
  );
}

function labelOf({ from, until, total, groups }: RunBar): string {
  const parts = Object.entries(groups).map(([group, count]) => `${count.toLocaleString('en')} ${group}`);
  const span = `${dayText(from)} ${clockText(from).slice(0, 5)} to ${clockText(until).slice(0, 5)}`;
  return `${span}: ${total === 0 ? 'no runs' : parts.join(', ')}`;
}
