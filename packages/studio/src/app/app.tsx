import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { ApiError } from '@weft/sdk';
import { RunsPage } from '../runs/runs-page.tsx';
import { Boundary } from '../ui/boundary.tsx';
import { Empty, Loading, problemText } from '../ui/states.tsx';
import { SignedContext, useEvery, useLoaded, useRoute, useSigned } from './hooks.ts';
import {
  clientWith,
  endSession,
  forgetKey,
  hasSignInCode,
  keyFromLink,
  may,
  openSession,
  type Session,
  storedKey,
} from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';

const RunPage = lazy(async () => ({ default: (await import('../run/run-page.tsx')).RunPage }));
const InboxPage = lazy(async () => ({ default: (await import('../inbox/inbox-page.tsx')).InboxPage }));
const AnswerPage = lazy(async () => ({ default: (await import('../inbox/answer-page.tsx')).AnswerPage }));
const WorkflowsPage = lazy(async () => ({
  default: (await import('../workflows/workflows-page.tsx')).WorkflowsPage,
}));
const WorkflowPage = lazy(async () => ({
  default: (await import('../workflows/workflow-page.tsx')).WorkflowPage,
}));
const ComparePage = lazy(async () => ({
  default: (await import('../compare/compare-page.tsx')).ComparePage,
}));

type Entry =
  | { readonly state: 'opening' }
  | { readonly state: 'out'; readonly problem?: string }
  | { readonly state: 'in'; readonly session: Session };

export function App() {
  const { path } = useRoute();
  const [entry, setEntry] = useState<Entry>({ state: 'opening' });
  useEffect(() => {
    const open = (): void => {
      enter().then(setEntry, (error: unknown) => setEntry({ state: 'out', problem: problemText(error) }));
    };
    // A link may be opened where the page is shown already: then only the fragment changes.
    const follow = (): void => {
      if (hasSignInCode()) open();
    };
    open();
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const signed = useMemo(
    () =>
      entry.state === 'in' ? { client: clientWith(entry.session.key), session: entry.session } : undefined,
    [entry],
  );
  const signOut = useCallback(() => {
    if (entry.state === 'in') endSession(entry.session);
    setEntry({ state: 'out' });
  }, [entry]);
  // The page behind a signed link, and the comparison of files, need no key.
  if (path[0] === 'answer' && path[1] !== undefined)
    return (
      <Suspense fallback={<Loading what="the question" />}>
        <AnswerPage token={path[1]} />
      </Suspense>
    );
  if (entry.state === 'opening') return <Loading what="Weft" />;
  if (signed === undefined && path[0] === 'compare')
    return (
      <Suspense fallback={<Loading what="the page" />}>
        <main className="bare">
          <ComparePage />
        </main>
      </Suspense>
    );
  if (signed === undefined)
    return (
      <SignIn
        problem={entry.state === 'out' ? entry.problem : undefined}
        onSigned={(session) => setEntry({ state: 'in', session })}
      />
    );
  return (
    <SignedContext value={signed}>
      <Signed onSignOut={signOut} />
    </SignedContext>
  );
}

async function enter(): Promise<Entry> {
  const key = (await keyFromLink()) ?? storedKey();
  if (key === undefined) return { state: 'out' };
  try {
    return { state: 'in', session: await openSession(key) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) forgetKey();
    throw error;
  }
}

function Signed({ onSignOut }: { readonly onSignOut: () => void }) {
  const { client, session } = useSigned();
  const mayAnswer = may(session, 'approvals:respond');
  const [open, reload] = useLoaded(
    async () => (mayAnswer ? (await client.interrupts.list({ limit: 100 })).items.length : 0),
    [mayAnswer],
  );
  useEvery(10_000, reload);
  return (
    <Shell onSignOut={onSignOut} inboxCount={open.value}>
      <Boundary>
        <Suspense fallback={<Loading what="the page" />}>
          <Page />
        </Suspense>
      </Boundary>
    </Shell>
  );
}

function Page() {
  const { path } = useRoute();
  const [place = 'runs', id] = path;
  useEffect(() => {
    document.title = `${TITLES[place] ?? 'Weft'}${id === undefined ? '' : ` ${id.slice(0, 8)}`} · Weft Studio`;
  }, [place, id]);
  if (place === 'runs') return id === undefined ? <RunsPage /> : <RunPage key={id} runId={id} />;
  if (place === 'inbox') return <InboxPage />;
  if (place === 'workflows')
    return id === undefined ? <WorkflowsPage /> : <WorkflowPage key={id} workflowId={id} />;
  if (place === 'compare') return <ComparePage />;
  return (
    <Empty title="There is nothing here">
      <a href="#/runs">All runs</a>
    </Empty>
  );
}

const TITLES: Readonly<Record<string, string>> = {
  runs: 'Runs',
  inbox: 'Inbox',
  workflows: 'Workflows',
  compare: 'Compare',
};
