import { expect, it } from 'vitest';
import { createHost } from './create-host.ts';
import { openMemoryStore } from '../memory-store/memory-store.ts';

it('a host ends although the store is away and its claims cannot be given back', async () => {
  const messages: string[] = [];
  const memory = openMemoryStore();
  const host = createHost({
    store: { ...memory, releaseAll: () => Promise.reject(new Error('the store is away')) },
    version: '0.0.0-test',
    log: (_level, _fields, message) => messages.push(message),
  });
  await host.start();

  await host.stop(0);

  expect(messages).toContain('claims could not be given back');
});
