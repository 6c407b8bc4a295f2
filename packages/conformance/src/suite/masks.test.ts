import { describe, expect, it } from 'vitest';
import { createMasks, HIDDEN } from './masks.ts';

const KEY = 'weft_live_"5+/=ä9f3c1';

describe('a secret that is known', () => {
  it.each([
    ['as it is', `Bearer ${KEY}`],
    ['in JSON', JSON.stringify({ message: KEY })],
    ['in a URL', `/v1/runs?key=${encodeURIComponent(KEY)}`],
    ['in hexadecimal digits', Buffer.from(KEY).toString('hex')],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64 after a name', Buffer.from(`admin:${KEY}`).toString('base64')],
    ['in base64 after one character', Buffer.from(`:${KEY}:x`).toString('base64')],
    ['in base64 for URLs', Buffer.from(`xx${KEY}`).toString('base64url')],
  ])('is hidden %s', (_form, text) => {
    const masked = createMasks([KEY]).mask(text);

    expect(masked).toContain(HIDDEN);
    expect(masked).not.toContain(KEY.slice(-6));
    expect(masked.replace(HIDDEN, '').length).toBeLessThan(40);
  });

  it('leaves other texts as they are', () => {
    expect(createMasks([KEY]).mask('{"runId":"run-1"}')).toBe('{"runId":"run-1"}');
  });

  it('is not taken for one when it is empty or short', () => {
    expect(createMasks(['', 'a']).mask('an answer')).toBe('an answer');
  });
});

describe('a secret that a host gives out', () => {
  it.each([
    ['the token of an interrupt', '{"interrupt":{"interruptToken":"eyJ0b2tlbiI.c2ln"}}', 'eyJ0b2tlbiI.c2ln'],
    ['the token in a link', '{"callbackUrl":"https://host/v1/interrupts/eyJ%2B0.c2ln"}', 'eyJ+0.c2ln'],
    ['the token in a path', '/v1/interrupts/eyJ0b2tlbiI.c2ln?x=1', 'eyJ0b2tlbiI.c2ln'],
    [
      'the token in a frame of a stream',
      '3 interrupt.requested {"interruptToken":"a.long.token"}',
      'a.long.token',
    ],
    ['the secret of a webhook', '{"webhookId":"w","secret":"0123456789abcdef"}', '0123456789abcdef'],
  ])('is learnt: %s', (_what, text, secret) => {
    const masks = createMasks();

    masks.learn(text);

    expect(masks.mask(`it is ${secret}`)).toBe(`it is ${HIDDEN}`);
  });

  it('is a member named key only in the answer to a registration', () => {
    const text = '{"key":"weft_key_12345"}';
    const [elsewhere, registered] = [createMasks(), createMasks()];

    elsewhere.learn(text);
    registered.learn(text, true);

    expect(elsewhere.mask(text)).toBe(text);
    expect(registered.mask(text)).toBe(`{"key":"${HIDDEN}"}`);
  });
});
