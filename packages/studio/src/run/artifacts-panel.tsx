import { useState } from 'react';
import type { ArtifactSummary, Client } from '@weft/sdk';
import { useLoaded, useSigned } from '../app/hooks.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { controlsShown } from '../ui/shown-text.ts';
import { Empty, Loading, Problem, problemText } from '../ui/states.tsx';
import { bytesText } from '../ui/bytes-text.ts';
import { timeText } from '../ui/time-text.ts';

interface ArtifactsPanelProps {
  readonly runId: string;
  /** The moment that is looked at; what was made later is not shown. */
  readonly until: number | undefined;
  /** Changes when the run may have made more of them. */
  readonly sequence: number;
}

const SHOWN = 200;

/** Files that nodes have left: kept next to the log, named by their digest. */
export function ArtifactsPanel({ runId, until, sequence }: ArtifactsPanelProps) {
  const { client } = useSigned();
  const [page] = useLoaded(
    async () => await client.artifacts.list(runId, { limit: SHOWN }),
    [runId, sequence],
  );
  if (page.state === 'failed') return <Problem error={page.error} />;
  if (page.value === undefined) return <Loading what="artifacts" />;
  const items = page.value.items.filter(
    ({ createdAt }) => until === undefined || Date.parse(createdAt) <= until,
  );
  if (items.length === 0)
    return (
      <Empty title="No artifacts">
        <p>Large results and files that nodes keep appear here.</p>
      </Empty>
    );
  return (
    <div className="stack">
      <ul className="cards">
        {items.map((artifact) => (
          <Artifact key={artifact.artifactId} runId={runId} artifact={artifact} client={client} />
        ))}
      </ul>
      {page.value.nextCursor !== undefined && (
        <p className="muted small">The first {SHOWN} are shown; the command line lists them all.</p>
      )}
    </div>
  );
}

interface ArtifactProps {
  readonly runId: string;
  readonly artifact: ArtifactSummary;
  readonly client: Client;
}

function Artifact({ runId, artifact, client }: ArtifactProps) {
  const { artifactId, name, nodeKey, mediaType, size, digest, createdAt } = artifact;
  const [preview, setPreview] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const use = (act: () => Promise<void>): void => {
    setProblem(undefined);
    act().catch((error: unknown) => setProblem(problemText(error)));
  };
  return (
    <li className="card">
      <div className="body stack">
        <div className="row wrap">
          <strong>{controlsShown(name)}</strong>
          <span className="tag" title={controlsShown(mediaType)}>
            {controlsShown(mediaType.split(';', 1)[0] ?? '')}
          </span>
          <span className="muted small">
            {bytesText(size)} · of {controlsShown(nodeKey)} · {timeText(Date.parse(createdAt))}
          </span>
          <span className="row spread">
            {isText(mediaType) && preview === undefined && (
              <button
                type="button"
                className="button tiny"
                onClick={() => use(async () => setPreview(await startOf(client, runId, artifactId)))}
              >
                Show
              </button>
            )}
            <button
              type="button"
              className="button tiny"
              disabled={size > LARGEST}
              title={size > LARGEST ? 'Too large for the page; use the command line' : undefined}
              onClick={() => use(async () => await save(client, runId, artifact))}
            >
              Download
            </button>
          </span>
        </div>
        <p className="mono small muted digest">
          sha256 {digest} <CopyButton label="Copy" text={() => digest} />
        </p>
        {preview !== undefined && (
          <pre className="preview" tabIndex={0}>
            {controlsShown(preview)}
          </pre>
        )}
        {problem !== undefined && (
          <p className="notice bad" role="alert">
            {problem}
          </p>
        )}
      </div>
    </li>
  );
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml)\b/.test(mediaType);
}

const PREVIEW_BYTES = 16_384;
/** What a page may hold to save it. */
const LARGEST = 256 * 1024 * 1024;

/** The first bytes as text; the rest is not fetched. */
async function startOf(client: Client, runId: string, artifactId: string): Promise<string> {
  const { bytes } = await client.artifacts.open(runId, artifactId);
  const reader = bytes.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let read = 0; read < PREVIEW_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value.subarray(0, PREVIEW_BYTES - read), { stream: true });
    read += value.length;
  }
  await reader.cancel();
  return `${text}\n…`;
}

/** Through the page, because a link of its own would carry no key. Never opened, only saved: an artifact may be a page itself. */
async function save(client: Client, runId: string, { artifactId, name }: ArtifactSummary): Promise<void> {
  const { bytes } = await client.artifacts.open(runId, artifactId);
  const blob = await new Response(bytes, { headers: { 'content-type': 'application/octet-stream' } }).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = controlsShown(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
