import type { RequestListener } from 'node:http';
import { createEgress, NodeFailure, type PeerContext, type Peers } from '@weft/engine';
import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { createA2aPeers, readA2aPeers } from './index.ts';
import { bodyOf, closeServers, listen, openSdkAgent } from './testing/sdk-agent.ts';

afterEach(closeServers);

const KEY = 'a-key-of-the-operator';

/** As the host gives one, with an egress that admits public addresses only. */
function contextOf(invocationId = 'invocation-1', signal = new AbortController().signal): PeerContext {
  const resolve = (secretId: string) =>
    secretId === 'peer-key'
      ? Promise.resolve(KEY)
      : Promise.reject(new NodeFailure('credential_unavailable', 'There is none.'));
  const egress = createEgress({ allow: [], connectTimeoutMs: 5_000 });
  return {
    signal,
    invocationId,
    egress,
    secrets: { resolve },
    operatorSecrets: { resolve },
    holdsClaim: () => true,
  };
}

const peersAt = (url: string, more: JsonObject = {}) =>
  createA2aPeers(readA2aPeers({ peers: { it: { url, ...more } } }));

const digestOf = async (peers: Peers) => (await peers.card('it', contextOf())).skills[0]?.digest ?? '';

describe.each(['1.0', '0.3'] as const)('an agent of the SDK that speaks A2A %s', (version) => {
  it('does a task, asks back, rejects and is cancelled', async () => {
    const agent = await openSdkAgent(version, KEY);
    const peers = peersAt(agent.url, { apiKey: 'secret:peer-key' });
    const card = await peers.card('it', contextOf());
    const cardDigest = card.skills[0]?.digest ?? '';
    const send = (content: Json, more: object = {}) =>
      peers.send(
        { peer: 'it', skill: 'echo', content, cardDigest, ...more },
        contextOf(`m-${JSON.stringify(content)}`),
      );
    const follow = (taskId = '') => peers.follow({ peer: 'it', taskId, cardDigest }, 5_000, contextOf());

    const begun = await send({ sum: 3 });
    const done = await follow(begun.taskId);
    const rejected = await send('reject');
    const asking = await send('ask');
    const asked = asking.state === 'INPUT_REQUIRED' ? asking : await follow(asking.taskId);
    const continued = await send('the red one', { taskId: asked.taskId, contextId: asked.contextId });
    const working = await send('work');
    const cancelled = await peers.cancel({ peer: 'it', taskId: working.taskId ?? '' }, contextOf());

    expect(card).toMatchObject({
      agentName: 'Echo agent',
      protocolVersion: expect.stringMatching(`^${version}`),
      takesRepeats: false,
    });
    expect(done).toMatchObject({
      state: 'COMPLETED',
      artifacts: [{ name: 'echo', parts: [{ data: { sum: 3 } }] }],
    });
    expect(rejected.state === 'REJECTED' ? rejected : await follow(rejected.taskId)).toMatchObject({
      state: 'REJECTED',
      message: [{ text: 'Not here.' }],
    });
    expect(asked).toMatchObject({ state: 'INPUT_REQUIRED', message: [{ text: 'Which one?' }] });
    expect(continued.taskId).toBe(asked.taskId);
    expect(cancelled).toMatchObject({ taskId: working.taskId, state: 'CANCELED' });
    expect(agent.received[0]).toMatchObject({ messageId: 'm-{"sum":3}', metadata: { skillId: 'echo' } });
  });

  it('gets nothing more once its card is another', async () => {
    const agent = await openSdkAgent(version);
    const peers = peersAt(agent.url);
    const cardDigest = await digestOf(peers);

    agent.name = 'An impostor';

    await expect(
      peers.send({ peer: 'it', skill: 'echo', content: 'hi', cardDigest }, contextOf()),
    ).rejects.toMatchObject({ code: 'peer_changed' });
    expect(agent.received).toEqual([]);
  });
});

/** The fake peer of a conformance suite, whose states a test scripts. */
async function openPlainPeer(...states: string[]) {
  const asked: string[] = [];
  const url = await listen((request, response) => {
    void bodyOf(request).then(() => {
      asked.push(`${request.method} ${request.url}`);
      const body =
        request.url === '/agent.json'
          ? {
              protocolVersion: '0.3.0',
              name: 'fake',
              url,
              capabilities: { streaming: false },
              skills: [{ id: 'echo' }],
            }
          : { taskId: 'task-1', state: states.shift() ?? 'COMPLETED', messages: [{ text: 'hi' }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  return { url, asked };
}

describe('a peer with plain endpoints', () => {
  it('is spoken to by them', async () => {
    const { url, asked } = await openPlainPeer('AUTH_REQUIRED', 'WORKING', 'COMPLETED');
    const peers = peersAt(url, { binding: 'plain' });
    const cardDigest = await digestOf(peers);

    const begun = await peers.send({ peer: 'it', skill: 'echo', content: {}, cardDigest }, contextOf());
    const ref = { peer: 'it', taskId: begun.taskId ?? '', cardDigest };
    const reply = await peers.send({ ...ref, skill: 'echo', content: 'me' }, contextOf());
    const done = await peers.follow(ref, 5_000, contextOf());

    expect([begun.state, reply.state, done.state]).toEqual(['AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(asked.filter((each) => !each.endsWith('agent.json'))).toEqual([
      'POST /tasks',
      'POST /tasks/task-1/messages',
      'GET /tasks/task-1',
    ]);
  });
});

const CARD = (url: string) => ({
  name: 'Bad',
  skills: [{ id: 'echo' }],
  supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
});

/** An agent with a good card, by default, that answers calls with this. */
async function openBadAgent(
  answer: (id: Json) => string | number,
  card: (url: string) => unknown = CARD,
): Promise<string> {
  const listener: RequestListener = (request, response) => {
    void bodyOf(request).then((body) => {
      const said =
        request.method === 'GET' ? card(url) : answer((JSON.parse(body) as JsonObject)['id'] ?? null);
      if (said === 'hang') return;
      if (typeof said === 'number') response.writeHead(said, { location: `${url}/elsewhere` }).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(typeof said === 'string' ? said : JSON.stringify(said));
    });
  };
  const url = await listen(listener);
  return url;
}

const task = (fields: object) => (id: Json) => JSON.stringify({ jsonrpc: '2.0', id, result: { ...fields } });
const SENT = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };

describe('an agent that behaves badly', () => {
  it.each<[string, (id: Json) => string | number, string, RegExp]>([
    ['sends no JSON', () => '<html>', 'peer_protocol_error', /cannot be used/],
    ['nests too deep', () => '['.repeat(9e4), 'peer_protocol_error', /cannot be used/],
    [
      'sends more than it may',
      () => `"${'x'.repeat(5e6)}"`,
      'peer_protocol_error',
      /4194304|4,194,304|larger/,
    ],
    [
      'sends a task too large to record',
      task({ task: { ...SENT.task, artifacts: [{ artifactId: 'a', parts: [{ text: 'x'.repeat(2e5) }] }] } }),
      'output_too_large',
      /at most 120000/,
    ],
    [
      'sends a task without an id',
      task({ task: { status: { state: 'TASK_STATE_WORKING' } } }),
      'peer_protocol_error',
      /has no id/,
    ],
    ['redirects', () => 307, 'peer_protocol_error', /Redirects of peers are not followed/],
    ['does not know the key', () => 401, 'peer_auth_failed', /"apiKey"/],
    ['is overloaded', () => 503, 'peer_unavailable', /503/],
    ['breaks', () => 500, 'peer_connection_lost', /not known/],
    [
      'refuses',
      (id) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'No such skill.' } }),
      'peer_protocol_error',
      /No such skill/,
    ],
    ['hangs', () => 'hang', 'peer_connection_lost', /not known/],
  ])('that %s: the failure says so', async (_, answer, code, message) => {
    const url = await openBadAgent(answer);
    const peers = peersAt(url, { timeoutMs: 500 });
    const cardDigest = await digestOf(peers);

    const failure = await peers
      .send({ peer: 'it', skill: 'echo', content: 'hi', cardDigest }, contextOf())
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({ code, retryable: code === 'peer_unavailable' });
    expect(String(failure)).toMatch(message);
  });

  it.each<[string, (url: string) => unknown, RegExp]>([
    ['points to another place', () => CARD('http://127.0.0.1:1'), /names no interface at/],
    ['has no skills', (url) => ({ ...CARD(url), skills: 'many' }), /skills/],
    ['is no object', () => [], /no object/],
    ['is too large', (url) => ({ ...CARD(url), description: 'x'.repeat(3e5) }), /cannot be used/],
  ])('whose card %s is not used', async (_, card, message) => {
    const failure = await peersAt(await openBadAgent(() => 500, card))
      .card('it', contextOf())
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: expect.stringMatching(/^peer_(card_invalid|protocol_error)$/) });
    expect(String(failure)).toMatch(message);
  });

  it('that is lost while it takes a message is sent the same one again, if it takes none twice (G-1)', async () => {
    const received: Json[] = [];
    let losses = 0;
    const extensions = [{ uri: 'urn:weft:a2a:idempotent-messages' }];
    const listener: RequestListener = (request, response) => {
      void bodyOf(request).then((body) => {
        const { id = null, params } = JSON.parse(body || '{}') as JsonObject;
        const isCard = request.method === 'GET';
        if (!isCard) received.push((params as JsonObject)['message'] ?? null);
        // The message, and then the card, as a host does that is killed and restarted.
        if (received.length === 1 && (losses += 1) <= 2) return void request.socket.destroy();
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(isCard ? JSON.stringify({ ...CARD(url), capabilities: { extensions } }) : task(SENT)(id));
      });
    };
    const url = await listen(listener);
    const peers = peersAt(url);
    const cardDigest = await digestOf(peers);

    const sent = await peers.send({ peer: 'it', skill: 'echo', content: 'hi', cardDigest }, contextOf('m-1'));

    const [first, second] = received;
    expect(losses).toBe(3);
    expect(sent).toMatchObject({ taskId: 't', state: 'WORKING' });
    expect(first).toMatchObject({ messageId: 'm-1' });
    expect(second).toEqual(first);
  });

  it('that answers for another task is not believed, and one that never ends is left', async () => {
    const peers = peersAt(await openBadAgent(task({ ...SENT.task, id: 'another' })));
    const endless = peersAt(await openBadAgent(task(SENT.task)));

    await expect(peers.follow({ peer: 'it', taskId: 't' }, 2_000, contextOf())).rejects.toThrow(
      'another task',
    );
    await expect(endless.follow({ peer: 'it', taskId: 't' }, 500, contextOf())).rejects.toMatchObject({
      code: 'peer_timeout',
    });
  });

  it('is not followed past the end of the effect', async () => {
    const peers = peersAt(await openBadAgent(task(SENT.task)));
    const controller = new AbortController();

    const followed = peers.follow({ peer: 'it', taskId: 't' }, 60_000, contextOf('i', controller.signal));
    controller.abort();

    await expect(followed).rejects.toBeDefined();
  });
});
