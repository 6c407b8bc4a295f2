import type { WorkflowSummary } from '@weft/sdk';
import { useLoaded, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { timeText } from '../ui/time-text.ts';
import { currentVersions } from './versions.ts';

const MOST = 1_000;

export function WorkflowsPage() {
  const { client, session } = useSigned();
  const [all, reload] = useLoaded(async () => {
    const found: WorkflowSummary[] = [];
    for await (const workflow of client.workflows.list({ limit: 100 }))
      if (found.push(workflow) >= MOST) break;
    return found;
  }, []);
  const rows = currentVersions(all.value ?? []);
  return (
    <div className="page">
      <header className="page-head">
        <h1>Workflows</h1>
        {rows.length > 0 && <span className="muted">{rows.length}</span>}
      </header>
      {all.state === 'failed' && <Problem error={all.error} onRetry={reload} />}
      {all.state === 'loading' && <Loading what="workflows" />}
      {all.state === 'ready' && rows.length === 0 && (
        <Empty title="No workflows yet">
          <p>
            Register one with <code>weft workflows register FILE</code>, or serve a folder of them:{' '}
            <code>weft serve --workflows FOLDER</code>.
          </p>
        </Empty>
      )}
      {rows.length > 0 && (
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                <th scope="col">Version</th>
                <th scope="col" className="number wide">
                  Nodes
                </th>
                <th scope="col" className="number wide">
                  Versions
                </th>
                <th scope="col" className="wide">
                  Registered
                </th>
                <th scope="col">
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ current, versions }) => (
                <tr key={current.id}>
                  <td>
                    <a className="strong" href={`#/workflows/${encodeURIComponent(current.id)}`}>
                      {current.name}
                    </a>
                    <div className="muted small mono">{current.id}</div>
                  </td>
                  <td className="mono">{current.version}</td>
                  <td className="number wide">{current.nodes}</td>
                  <td className="number wide">{versions}</td>
                  <td className="wide muted">{timeText(Date.parse(current.registeredAt))}</td>
                  <td className="number">
                    {may(session, 'runs:create') && (
                      <a
                        className="button tiny"
                        href={`#/workflows/${encodeURIComponent(current.id)}?tab=start`}
                      >
                        Start
                      </a>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
