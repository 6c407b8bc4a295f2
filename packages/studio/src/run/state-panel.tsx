import { useEffect, useState } from 'react';
import type { Json, JsonObject } from '@weft/sdk';
import { useLoaded, useSigned } from '../app/hooks.ts';
import { JsonView } from '../ui/json-view.tsx';
import { Loading, Problem } from '../ui/states.tsx';

/** While the slider moves, the host is not asked for every event that it passes. */
const SETTLE_MS = 200;

/** Variables and channels after an event, as the host's own fold has them. */
export function StatePanel({
  runId,
  sequence,
  outputs,
}: {
  readonly runId: string;
  readonly sequence: number;
  readonly outputs: Json | undefined;
}) {
  const { client } = useSigned();
  const [settled, setSettled] = useState(sequence);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(sequence), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [sequence]);
  const [state] = useLoaded(
    async () => (settled < 0 ? undefined : await client.runs.stateAt(runId, settled)),
    [runId, settled],
  );
  if (state.state === 'failed') return <Problem error={state.error} />;
  if (state.state === 'loading' || (settled < 0 && sequence >= 0))
    return <Loading what={`the state after event ${Math.max(settled, sequence)}`} />;
  const run = state.value as JsonObject | undefined;
  return (
    <div className="state-panel">
      <Part title="Inputs" value={run?.['inputs']} />
      <Part title="Variables" value={run?.['variables']} />
      <Part title="Channels" value={run?.['channels']} />
      <Part title="Outputs" value={outputs} />
      <Part title="Options" value={run?.['configurable']} />
      <Part title="Metadata" value={run?.['metadata']} />
    </div>
  );
}

function Part({ title, value }: { readonly title: string; readonly value: Json | undefined }) {
  if (value === undefined || value === null || Object.keys(value).length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
      </header>
      <div className="body">
        <JsonView value={value} />
      </div>
    </section>
  );
}
