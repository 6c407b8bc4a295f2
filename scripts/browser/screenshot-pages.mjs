/** What `npm run screenshots` makes pictures of: a name, and the place of the page for what the host has. */
export const PAGES = [
  { name: 'runs', place: () => '#/runs' },
  { name: 'run', place: ({ ended }) => `#/runs/${ended}` },
  { name: 'run-waiting', place: ({ waiting }) => `#/runs/${waiting}` },
  { name: 'compare', place: ({ ended, other }) => `#/compare?a=${ended}&b=${other}` },
  { name: 'inbox', place: () => '#/inbox' },
  { name: 'workflows', place: () => '#/workflows' },
  { name: 'workflow', place: () => '#/workflows/order-fulfilment' },
];

export const THEMES = ['light', 'dark'];
/** A laptop and a phone. */
export const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];

/** Runs of the examples in every state that the pages show. */
export async function fillHost({ api }) {
  const start = async (workflowId, inputs) => (await api('POST', '/v1/runs', { workflowId, inputs })).runId;
  const expense = { who: 'ada', purpose: 'conference' };
  const ended = await start('expense-approval', { ...expense, amount: 12 });
  const other = await start('expense-approval', { ...expense, amount: 30 });
  const waiting = await start('expense-approval', { ...expense, amount: 900 });
  for (const text of ['weft', 'durable workflows']) await start('text-lengths', { texts: [text] });
  await start('trip-booking', {});
  return { ended, other, waiting };
}
