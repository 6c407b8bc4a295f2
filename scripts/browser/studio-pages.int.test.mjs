import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './accessibility.mjs';
import { hasBrowser, openBrowser } from './browser.mjs';
import { fileWorkflow, wideWorkflow } from './screenshot-pages.mjs';
import { goTo, openStudio, startStudioHost } from './studio.mjs';
import { bytesOfPage, loopWorkflow, moveSlider } from './studio-figures.mjs';

/** The built page of a real host, used as a person uses it. */

const BROWSERS = hasBrowser() ? ['Chromium'] : [];
const PHONE = { width: 390, height: 844 };
/** One event may hold a text of a million characters. */
const LONG_TEXTS = { WEFT_MAX_PAYLOAD_BYTES: '4194304', WEFT_MAX_STATE_BYTES: '16777216' };

let browser;
let host;

beforeAll(async () => {
  if (!hasBrowser()) return;
  browser = await openBrowser();
  host = await startStudioHost({ env: LONG_TEXTS });
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
});

const start = async (workflowId, inputs = {}) =>
  (await host.api('POST', '/v1/runs', { workflowId, inputs })).runId;

async function opened(place, options = {}) {
  const page = await browser.newPage(options);
  const { problems } = await openStudio(page, { host, place });
  return { page, problems };
}

const approve = ({ api }, runId) =>
  api('POST', `/v1/runs/${runId}/interrupts/manager`, { resumeValue: { action: 'accept' } });

/** Its one node has what the run was given as its output. */
const echoWorkflow = (id) => ({
  id,
  name: id,
  version: '1.0.0',
  nodes: [
    { id: 'echo', typeId: 'core.identity', inputs: { text: { type: 'variable', variableName: 'text' } } },
  ],
  edges: [],
  variables: [{ name: 'text', type: 'string' }],
});

const has = (page, text) => page.getByText(text, { exact: false }).first().waitFor({ timeout: 20_000 });

/** Edges of which a point lies inside a box; where they begin and end they touch one. */
const edgesBehindBoxes = (page) =>
  page.evaluate(() => {
    const { document } = globalThis;
    const boxes = [...document.querySelectorAll('.graph-node:not(.frame)')].map((box) =>
      box.getBoundingClientRect(),
    );
    return [...document.querySelectorAll('.react-flow__edge-path')].flatMap((path) => {
      const matrix = path.getScreenCTM();
      const length = path.getTotalLength();
      const isInside = ({ x, y }) =>
        boxes.some((box) => x > box.left + 2 && x < box.right - 2 && y > box.top + 2 && y < box.bottom - 2);
      const samples = Array.from({ length: 200 }, (_, index) =>
        path.getPointAtLength((length * index) / 199).matrixTransform(matrix),
      );
      return samples.some(isInside) ? [path.id] : [];
    });
  });

describe.each(BROWSERS)('in %s', () => {
  it('a person starts the sample agent, answers it, forks it with another answer and sees where the runs differ', async () => {
    const { page, problems } = await opened('#/workflows');

    await page.getByRole('link', { name: 'Support agent' }).click();
    await page.getByRole('tab', { name: 'Start a run' }).click();
    await page.getByLabel('customer').fill('Grace');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.locator('.graph-node.tone-wait', { hasText: 'Is the reply right?' }).waitFor();
    await page.getByLabel('Comment').fill('kind enough');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator('.run-head .tone-good').waitFor();
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('button', { name: 'Start, and compare both' }).click();
    await has(page, 'A run is still active');
    await page.locator('.side.b a.mono').click();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.locator('.run-head .tone-good').waitFor();
    await page.goBack();

    await has(page, 'They part at event');
    await page.locator('.pair', { hasText: 'approval.received' }).first().waitFor();
    await page.getByRole('tab', { name: 'State at the end' }).click();
    const status = page.locator('tr', { hasText: 'variables.status' });
    await status.getByText('sent').waitFor();
    await status.getByText('kept').waitFor();
    expect(problems).toEqual([]);
  });

  it('a run is seen while it executes, and at any earlier moment', async () => {
    const runId = await start('expense-approval', { amount: 900 });
    const { page, problems } = await opened(`#/runs/${runId}`);
    await page.locator('.graph-node.tone-wait').waitFor();

    await approve(host, runId);
    await page.locator('.run-head .tone-good').waitFor();
    expect(await page.locator('.graph-node.tone-wait').count()).toBe(0);
    await page.getByLabel('Event', { exact: true }).fill('2');

    await has(page, 'As of event 2');
    await page.locator('.run-head .tone-live').waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await expect.poll(() => page.locator('.event-row').count()).toBe(3);
    await expect.poll(() => page.url()).toContain('at=2');
    expect(problems).toEqual([]);
  });

  it('a link signs in where the page is open; the list is filtered by a click into its chart', async () => {
    await start('text-lengths', { texts: ['a'] });
    const page = await browser.newPage();
    // Where the page is open already, a link changes its fragment alone.
    await page.goto(`${host.url}/studio/`);
    await page.getByLabel('API key').waitFor();
    const { problems } = await openStudio(page, { host });

    await page.locator('.chart-bar:enabled').last().click();
    await expect.poll(() => page.url()).toMatch(/from=\d+&until=\d+/);
    await page.locator('.table.runs tbody tr').first().waitFor();
    await page.locator('.chart-key', { hasText: 'cancelled' }).click();
    await has(page, 'No run matches these filters');
    await page.locator('.chart-key', { hasText: 'cancelled' }).click();

    await page.locator('.table.runs tbody tr', { hasText: 'text-lengths' }).first().waitFor();
    expect(problems).toEqual([]);
  });

  it('loops, retries and children are boxes that open, and no edge is drawn behind one', async () => {
    const ended = async (runId) => {
      await expect.poll(async () => (await host.api('GET', `/v1/runs/${runId}`)).status).toBe('completed');
      return runId;
    };
    const [loop, parent, retried] = await Promise.all(
      ['batch-totals', 'trip-booking', 'payment-retry'].map(async (id) => await ended(await start(id))),
    );
    const { page, problems } = await opened(`#/runs/${loop}`);

    await page.locator('.graph-fold', { hasText: '2 inside' }).click();
    await page.locator('.graph-fold', { hasText: '3 rounds done' }).first().click();
    await page.locator('.graph-rows', { hasText: 'price[2]' }).waitFor();
    await goTo(page, `#/runs/${retried}`);
    await page.locator('.graph-fold', { hasText: '3 attempts' }).click();
    await page.locator('.graph-rows', { hasText: 'gateway_unavailable' }).waitFor();
    await goTo(page, `#/runs/${parent}`);
    await page.locator('.graph-fold', { hasText: 'child run' }).first().click();
    await page.locator('.graph-rows li', { hasText: 'book' }).waitFor();
    await page.getByRole('link', { name: 'Open the child run' }).click();
    await page.getByRole('heading', { name: /^trip-/ }).waitFor();
    await goTo(page, '#/workflows/order-fulfilment');

    await page.locator('.graph[aria-busy="false"]').waitFor();
    expect(await edgesBehindBoxes(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('what models have used, what people have said, and the turns of an agent are shown', async () => {
    const runId = await start('support-agent');
    const { page, problems } = await opened(`#/runs/${runId}?tab=timeline`);

    await page.locator('.timeline-row.turn', { hasText: 'model turn 1' }).getByText('mock-echo').waitFor();
    await page.getByRole('tab', { name: 'Cost' }).click();
    await page.locator('tr', { hasText: 'mock / mock-echo' }).first().waitFor();
    await page.getByRole('tab', { name: 'Annotations' }).click();
    await page.getByLabel('Say').selectOption('label');
    await page.getByRole('button', { name: 'Add' }).click();
    await has(page, 'Label is needed.');
    await page.getByLabel('Label').fill('too kind');
    await page.getByLabel('About').selectOption('draft');
    await page.getByRole('button', { name: 'Add' }).click();

    await page.locator('.cards', { hasText: 'too kind' }).getByText('node draft').waitFor();
    expect(problems).toEqual([]);
  });
});

// The first of them mostly waits, on a host of its own.
describe.concurrent.each(BROWSERS)('without the usual, in %s', () => {
  it('a page that is open while its host is killed says so, and continues when it is back', async () => {
    const own = await startStudioHost();
    try {
      const run = { workflowId: 'expense-approval', inputs: { amount: 900 } };
      const { runId } = await own.api('POST', '/v1/runs', run);
      const page = await browser.newPage();
      await openStudio(page, { host: own, place: `#/runs/${runId}` });
      await page.locator('.live-sign', { hasText: /^Live$/ }).waitFor();
      await page.locator('.react-flow__node').first().waitFor();

      await own.kill();
      await page.locator('.live-sign.lost').waitFor();
      await own.restart();
      await page.locator('.live-sign', { hasText: /^Live$/ }).waitFor();
      await approve(own, runId);

      await page.locator('.run-head .tone-good').waitFor();
    } finally {
      await own.stop();
    }
  });

  it('a question is answered by its link, on a phone and without a key', async () => {
    const runId = await start('expense-approval', { amount: 901 });
    const { interrupt } = await host.api('GET', `/v1/runs/${runId}`);
    const page = await browser.newPage({ viewport: PHONE });

    await page.goto(`${host.url}/studio/#/answer/${interrupt.interruptToken}`);
    await has(page, 'An expense over the limit');
    await has(page, 'The workflow Expense approval (expense-approval) asks you');
    await has(page, 'this link works until');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Comment').fill('no receipt');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();

    await has(page, 'your answer is recorded');
    const { variables } = await host.api('GET', `/v1/runs/${runId}`);
    expect(variables.status).toBe('rejected');
    await page.reload();
    await has(page, 'can no longer be answered');
  });

  it('two bundles are compared without a host, and a run with a bundle', async () => {
    const bundles = [];
    for (const quantity of [2, 20]) {
      const runId = await start('order-fulfilment', { orderId: 'A-1', quantity });
      await expect.poll(async () => (await host.api('GET', `/v1/runs/${runId}`)).status).toBe('completed');
      bundles.push(await host.api('GET', `/v1/runs/${runId}/debug-bundle`));
    }
    const page = await browser.newPage();
    await page.goto(`${host.url}/studio/#/compare`);
    await page.getByText('Choose two runs').waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    const asFile = (bundle) => ({
      name: 'run.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(bundle)),
    });

    await page.getByLabel('Bundle file for side a').setInputFiles(asFile(bundles[0]));
    await page.getByLabel('Bundle file for side b').setInputFiles(asFile(bundles[1]));

    await has(page, 'They part at event');
    expect(await page.getByText('unchanged since it was written').count()).toBe(2);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.graph-node.changed').first().waitFor();
    const forged = { ...bundles[1], run: { ...bundles[1].run, status: 'failed' } };
    await page.getByLabel('Bundle file for side b').setInputFiles(asFile(forged));
    await has(page, 'Its digest does not fit');
    const { page: signed, problems } = await opened(`#/compare?a=${bundles[0].run.runId}`);
    await signed.getByLabel('Bundle file for side b').setInputFiles(asFile(bundles[1]));
    await signed.locator('.pair', { hasText: 'outputs.ok' }).first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe.each(BROWSERS)('whatever it is given, in %s', () => {
  it('what comes from outside is text, however hostile and however long', async () => {
    const nasty = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202Eevil`;
    const text = nasty.repeat(1_000).padEnd(1_000_000, 'x');
    await host.api('POST', '/v1/host/weft/workflows', echoWorkflow('hostile-text'));
    const runId = await start('hostile-text', { text });
    const { page, problems } = await opened(`#/runs/${runId}?tab=events`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const isCutText = async (place) => {
      await place.getByText('<img src=x').first().waitFor();
      const shown = await place.textContent();
      expect(shown).toContain(String.raw`\u202eevil`);
      expect(shown).not.toContain('\u202E');
      expect(shown.length).toBeLessThan(20_000);
    };
    await isCutText(page.locator('.event-rows'));
    await page.locator('.event-row', { hasText: '<img src=x' }).first().click();

    const detail = page.locator('.event-detail');
    await isCutText(detail);
    await detail.getByRole('button', { name: 'Copy JSON' }).click();
    await detail.getByText('Copied').waitFor();
    const copied = JSON.parse(await page.evaluate(() => globalThis.navigator.clipboard.readText()));
    expect(copied.payload.outputs.text === text).toBe(true);
    await detail.getByRole('button', { name: 'all 1,000,000 characters' }).first().click();
    await expect.poll(async () => (await detail.textContent()).length).toBeGreaterThan(1_000_000);
    await page.getByLabel('Event', { exact: true }).fill('1');
    await has(page, 'As of event 1');
    await page.getByRole('tab', { name: 'State' }).click();
    await isCutText(page.locator('.state-panel'));
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBe(1280);
    expect(await page.title()).not.toBe('taken');
    expect(problems).toEqual([]);
  });

  it('a run whose events stream in by thousands is shown to its end, and at any moment of it', async () => {
    const rounds = 4_000;
    await host.api('POST', '/v1/host/weft/workflows', loopWorkflow('many-events', rounds));
    const { page, problems } = await opened('#/runs');
    const runId = await start('many-events');
    await page.evaluate((hash) => {
      globalThis.location.hash = hash;
    }, `#/runs/${runId}?tab=events`);

    // Its loop never ends by itself.
    await page.locator('.run-head .tone-bad').waitFor();
    await has(page, '8,004 of 8,004 events');
    // Only those in sight are in the page.
    expect(await page.locator('.event-row').count()).toBeLessThan(100);
    await moveSlider(page, 0.5);
    await has(page, '4,003 of 8,004 events');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.graph-fold', { hasText: '1 inside' }).click();
    await page.locator('.graph-node', { hasText: 'of 2,001 rounds done' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('nodes that follow one another are folded, and a run of ten thousand side by side is a list', async () => {
    const { nodes, ...chained } = wideWorkflow('long-chain', 600);
    const edges = nodes.slice(1).map(({ id }, index) => ({
      id: `e${index}`,
      sourceNodeId: `n${index}`,
      targetNodeId: id,
    }));
    await host.api('POST', '/v1/host/weft/workflows', { ...chained, nodes, edges });
    await host.api('POST', '/v1/host/weft/workflows', wideWorkflow('ten-thousand', 10_000));
    const runId = await start('ten-thousand');
    const { page, problems } = await opened('#/workflows/long-chain');

    await has(page, '599 nodes that follow one another are drawn together');
    await page.getByRole('button', { name: 'List all nodes' }).click();
    await has(page, '600 of 600 nodes');
    await page.getByRole('button', { name: 'Draw the graph' }).click();
    await page.locator('.react-flow__node', { hasText: 'n0 and 599 more' }).waitFor();
    await goTo(page, `#/runs/${runId}`);
    await page.locator('.run-head .tone-good').waitFor();
    await has(page, '10,000 of 10,000 nodes');
    expect(await page.locator('.node-line').count()).toBeLessThan(100);
    await page.getByLabel('Filter nodes').fill('n9999');
    await page.locator('.node-line', { hasText: 'n9999' }).getByText('Completed').waitFor();
    await page.locator('.node-line').click();
    await page.locator('.node-panel', { hasText: 'core.noop' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('JSON is typed into an editor that says in which line it is wrong, and that Tab leaves', async () => {
    const { page, problems } = await opened('#/workflows/text-lengths?tab=start');
    const editor = page.locator('.json-editor').getByLabel('texts');
    const type = async (text) => {
      await editor.click();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
    };

    await type('["a",\n b]');
    await page.locator('.json-editor .cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: 'Start the run' }).click();
    await has(page, 'line 2, character 2: ');
    expect(await seriousFindings(page)).toEqual([]);
    await type('["one", "three"]');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => globalThis.document.activeElement.id)).toBe('tags');
    await page.getByRole('button', { name: 'Start the run' }).click();

    await page.locator('.run-head .tone-good').waitFor();
    expect(problems).toEqual([]);
  });

  it('a file that a run has left is shown as text and saved, whatever it is called', async () => {
    const name = '<img src=x onerror=alert(1)>.html';
    await host.api('POST', '/v1/host/weft/workflows', fileWorkflow('leaves-a-file', name));
    const runId = await start('leaves-a-file');
    const { page, problems } = await opened(`#/runs/${runId}?tab=artifacts`);

    const card = page.locator('.card', { hasText: '<img src=x' });
    await card.getByRole('button', { name: 'Show' }).click();
    await card.locator('pre', { hasText: '"protocolVersion"' }).waitFor();
    const saving = page.waitForEvent('download');
    await card.getByRole('button', { name: 'Download' }).click();
    const saved = await saving;

    expect(await saved.failure()).toBeNull();
    expect(saved.suggestedFilename()).not.toMatch(/[<>/]/);
    expect(await page.locator('.card img').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ])('no page has a serious finding, %s and %i wide', async (colorScheme, width) => {
    const ended = await start('order-fulfilment', { orderId: 'A-1', quantity: 20 });
    const other = await start('order-fulfilment', { orderId: 'A-2', quantity: 20 });
    const waiting = await start('expense-approval', { amount: 900 });
    const { page, problems } = await opened('#/runs', { colorScheme, viewport: { width, height: 844 } });
    const places = [
      ['#/runs', '.table'],
      [`#/runs/${ended}`, '.react-flow__node'],
      [`#/runs/${ended}?tab=timeline`, '.timeline-row'],
      [`#/runs/${ended}?tab=events`, '.event-row'],
      [`#/runs/${ended}?tab=state`, '.state-panel'],
      [`#/runs/${ended}?tab=cost`, '.panel .empty'],
      [`#/runs/${ended}?tab=annotations`, '.annotations form'],
      [`#/runs/${waiting}`, '.question'],
      ['#/inbox', '.question'],
      ['#/workflows', '.table'],
      ['#/workflows/order-fulfilment?tab=start', '.form-card'],
      [`#/compare?a=${ended}&b=${other}`, '.verdict'],
    ];
    for (const [place, sign] of places) {
      await goTo(page, place);
      await page.locator(sign).first().waitFor();
      expect([place, await seriousFindings(page)]).toEqual([place, []]);
      // Nothing is wider than the screen.
      const overflow = await page.evaluate(() => globalThis.document.documentElement.scrollWidth);
      expect([place, overflow]).toEqual([place, width]);
    }
    expect(problems).toEqual([]);
  });
});

describe('the built page', () => {
  it('is small: at most 250 KB for the first view, 100 KB more for a graph without its layout', () => {
    const { index, firstView, graph } = bytesOfPage();

    expect(index).not.toMatch(/<script(?![^>]* src=)|<style| style=/);
    expect(firstView).toBeLessThan(250_000);
    expect(graph).toBeGreaterThan(10_000);
    expect(graph).toBeLessThan(100_000);
  });
});
