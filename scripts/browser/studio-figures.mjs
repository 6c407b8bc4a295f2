/**
 * `node scripts/browser/studio-figures.mjs [EVENTS]`: what the page weighs and how it holds while a run makes that many events, as one line
 * of JSON. Needs a built clone and tools/browser. It measures; whether that is good enough is for others to say.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT } from '../bootstrap.mjs';
import { openBrowser } from './browser.mjs';
import { openStudio, startStudioHost } from './studio.mjs';

const MOVES = 15;
/** What says that a tab has loaded. */
const SIGNS = { graph: '.react-flow__node', timeline: '.timeline-row', events: '.event-row' };

/** A loop whose body is one node: two events for each round, and four around them. */
export function loopWorkflow(id, rounds) {
  const node = (nodeId, typeId, config = {}) => ({
    id: nodeId,
    typeId,
    name: nodeId,
    position: { x: 0, y: 0 },
    config,
    inputs: {},
  });
  return {
    id,
    name: id,
    version: '1.0.0',
    nodes: [
      node('loop', 'core.loop', { body: ['step'], while: 'true', maxIterations: rounds }),
      node('step', 'core.noop'),
    ],
    edges: [],
    triggers: [{ id: 't', type: 'manual' }],
    variables: [],
    metadata: {},
    settings: {},
  };
}

export const MANY_EXECUTIONS = { WEFT_MAX_NODE_EXECUTIONS: '200000' };

const PAGE = join(ROOT, 'packages/studio/dist');

/** Files that a browser fetches for the first view, and for a graph without its layout, packed. */
export function bytesOfPage() {
  const size = (path) => gzipSync(readFileSync(join(PAGE, path)), { level: 6 }).length;
  const index = readFileSync(join(PAGE, 'index.html'), 'utf8');
  const first = [...index.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path);
  const graph = readdirSync(join(PAGE, 'assets')).filter((name) => /^graph-view-.*\.(?:js|css)$/.test(name));
  const sum = (paths) => paths.reduce((bytes, path) => bytes + size(path), 0);
  return { index, firstView: sum(first), graph: sum(graph.map((name) => `assets/${name}`)) };
}

/** From now on, in the page: the longest task so far. */
export const watchTasks = (page) =>
  page.evaluate(() => {
    globalThis.longestTask = 0;
    globalThis.taskWatcher?.disconnect();
    globalThis.taskWatcher = new globalThis.PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        globalThis.longestTask = Math.max(globalThis.longestTask, duration);
    });
    globalThis.taskWatcher.observe({ type: 'longtask' });
  });

export const longestTask = (page) => page.evaluate(() => Math.round(globalThis.longestTask));

/** Moves the slider to a place, and says after how many milliseconds the page showed it. */
export const moveSlider = (page, share) =>
  page.evaluate(
    (at) =>
      new Promise((done) => {
        const { document, performance, requestAnimationFrame, HTMLInputElement } = globalThis;
        const slider = document.querySelector('.time-slider input');
        const place = Math.round(Number(slider.max) * at);
        const started = performance.now();
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(slider, String(place));
        slider.dispatchEvent(new globalThis.Event('input', { bubbles: true }));
        const look = () =>
          document.querySelector('.run-head').textContent.includes(`As of event ${place}`)
            ? done(performance.now() - started)
            : requestAnimationFrame(look);
        requestAnimationFrame(look);
      }),
    share,
  );

async function figures(events) {
  const host = await startStudioHost({ env: MANY_EXECUTIONS });
  const browser = await openBrowser();
  try {
    const { firstView, graph } = bytesOfPage();
    const page = await browser.newPage();
    await openStudio(page, { host });
    const firstPaint = await page.evaluate(
      () => globalThis.performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    );
    await host.api('POST', '/v1/host/weft/workflows', loopWorkflow('figures', Math.floor(events / 2) - 2));
    const found = {};
    for (const [tab, sign] of Object.entries(SIGNS)) {
      const { runId } = await host.api('POST', '/v1/runs', { workflowId: 'figures', inputs: {} });
      await page.evaluate((hash) => {
        globalThis.location.hash = hash;
      }, `#/runs/${runId}?tab=${tab}`);
      await page.locator(sign).first().waitFor();
      await watchTasks(page);
      await page.locator('.run-head .tone-good, .run-head .tone-bad').waitFor({ timeout: 300_000 });
      found[`longestTask_${tab}`] = await longestTask(page);
      const moves = [];
      for (let move = 1; move <= MOVES; move += 1) moves.push(await moveSlider(page, (move * 0.618) % 1));
      found[`slowestMove_${tab}`] = Math.round(Math.max(...moves));
    }
    found.ended = await page.locator('.time-slider input').getAttribute('max');
    return { events, firstView, graph, firstPaint: Math.round(firstPaint), ...found };
  } finally {
    await browser.close();
    await host.stop();
  }
}

if (import.meta.filename === process.argv[1])
  console.log(JSON.stringify(await figures(Number(process.argv[2] ?? 100_000))));
