/** What `npm run screenshots` makes pictures of: a name, and the place of the page for what the host has. */
export const PAGES = [
  { name: 'runs', place: () => '#/runs', sign: '.chart-bar' },
  { name: 'run', place: ({ agent }) => `#/runs/${agent}`, sign: '.react-flow__node' },
  { name: 'run-loop', place: ({ loop }) => `#/runs/${loop}`, sign: '.react-flow__node', open: true },
  { name: 'run-child', place: ({ parent }) => `#/runs/${parent}`, sign: '.react-flow__node', open: true },
  { name: 'run-retries', place: ({ retried }) => `#/runs/${retried}`, sign: '.react-flow__node', open: true },
  { name: 'run-waiting', place: ({ waiting }) => `#/runs/${waiting}`, sign: '.react-flow__node' },
  { name: 'run-timeline', place: ({ agent }) => `#/runs/${agent}?tab=timeline`, sign: '.timeline-row' },
  { name: 'run-events', place: ({ agent }) => `#/runs/${agent}?tab=events`, sign: '.event-row' },
  { name: 'run-logs', place: ({ agent }) => `#/runs/${agent}?tab=logs`, sign: '.log-line' },
  { name: 'run-large', place: ({ large }) => `#/runs/${large}`, sign: '.node-line' },
  { name: 'run-state', place: ({ agent }) => `#/runs/${agent}?tab=state`, sign: '.state-panel' },
  { name: 'run-cost', place: ({ agent }) => `#/runs/${agent}?tab=cost`, sign: '.figures' },
  { name: 'run-artifacts', place: ({ report }) => `#/runs/${report}?tab=artifacts`, sign: '.panel .card' },
  { name: 'run-annotations', place: ({ agent }) => `#/runs/${agent}?tab=annotations`, sign: '.cards' },
  { name: 'compare', place: ({ agent, other }) => `#/compare?a=${agent}&b=${other}`, sign: '.pair' },
  { name: 'inbox', place: () => '#/inbox', sign: '.question' },
  { name: 'workflows', place: () => '#/workflows', sign: '.table' },
  { name: 'workflow', place: () => '#/workflows/order-fulfilment', sign: '.react-flow__node' },
  { name: 'workflow-start', place: () => '#/workflows/batch-totals?tab=start', sign: '.json-editor' },
  { name: 'workflow-versions', place: () => '#/workflows/batch-totals?tab=versions', sign: '.table' },
  { name: 'workflow-findings', place: () => '#/workflows/batch-totals?tab=findings', sign: '.panel .empty' },
  { name: 'workflow-definition', place: () => '#/workflows/batch-totals?tab=source', sign: '.json' },
  { name: 'answer', place: ({ token }) => `#/answer/${token}`, sign: '.answer form, .answer .button' },
];

/** A workflow that keeps what the host says of itself as a file. */
export const fileWorkflow = (id, saveAs) => ({
  id,
  name: 'What the host says of itself',
  version: '1.0.0',
  nodes: [
    {
      id: 'fetch',
      typeId: 'core.http.request',
      config: { url: 'weft://self/.well-known/openwop', saveAs: { name: saveAs } },
    },
  ],
  edges: [],
});

/** More nodes than can be drawn, side by side. */
export const wideWorkflow = (id, count) => ({
  id,
  name: id,
  version: '1.0.0',
  nodes: Array.from({ length: count }, (_, index) => ({ id: `n${index}`, typeId: 'core.noop' })),
  edges: [],
});

export const THEMES = ['light', 'dark'];
/** A laptop and a phone. */
export const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];

/** Runs of the examples in every state that the pages show. */
export async function fillHost({ api }) {
  const start = async (workflowId, inputs = {}) =>
    (await api('POST', '/v1/runs', { workflowId, inputs })).runId;
  const settled = async (runId) => {
    for (;;) {
      const run = await api('GET', `/v1/runs/${runId}`);
      if (run.interrupt !== undefined || ['completed', 'failed', 'cancelled'].includes(run.status))
        return run;
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  const answer = async (runId, node, action) => {
    await settled(runId);
    await api('POST', `/v1/runs/${runId}/interrupts/${node}`, { resumeValue: { action } });
    await settled(runId);
  };
  const agent = await start('support-agent');
  await answer(agent, 'review', 'accept');
  const other = await start('support-agent');
  await answer(other, 'review', 'reject');
  await api('POST', `/v1/runs/${agent}/annotations`, {
    signal: { kind: 'rating', rating: 4 },
    note: 'Kind, and a little long.',
  });
  await api('POST', `/v1/runs/${agent}/annotations`, {
    signal: { kind: 'label', label: 'late parcel' },
    target: { nodeId: 'draft' },
  });
  const waiting = await start('expense-approval', { who: 'ada', purpose: 'conference', amount: 900 });
  const loop = await start('batch-totals');
  const parent = await start('trip-booking');
  const retried = await start('payment-retry');
  await api('POST', '/v1/host/weft/workflows', fileWorkflow('host-description', 'capabilities.json'));
  const report = await start('host-description');
  await api('POST', '/v1/host/weft/workflows', wideWorkflow('wide', 10_000));
  const large = await start('wide');
  for (const text of ['weft', 'durable workflows']) await start('text-lengths', { texts: [text] });
  for (const runId of [loop, parent, retried, report, large]) await settled(runId);
  const { interrupt } = await settled(waiting);
  return { agent, other, waiting, loop, parent, retried, report, large, token: interrupt.interruptToken };
}
