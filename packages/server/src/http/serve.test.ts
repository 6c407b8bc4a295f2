import { ENDPOINTS, type OperationId } from '@weft/protocol';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Guard } from './guard.ts';
import { serveOperations } from './serve.ts';

const OPEN: Pick<Guard, 'options'> = { options: () => ({}) };
const ALL = Object.keys(ENDPOINTS) as OperationId[];

describe('serving the table of endpoints', () => {
  it('starts no app in which an operation has no handler', () => {
    const register = () =>
      serveOperations(Fastify(), OPEN, (serve) => {
        for (const id of ALL) if (id !== 'pauseRun') serve(id, () => id);
      });

    expect(register).toThrow('No handler serves pauseRun.');
  });

  it('leads every path and every alias to its own handler', async () => {
    const app = Fastify();
    serveOperations(app, OPEN, (serve) => {
      for (const id of ALL) serve(id, () => id);
    });

    for (const id of ALL) {
      const row = ENDPOINTS[id];
      for (const path of 'alias' in row ? [row.path, row.alias] : [row.path]) {
        const url = path.replaceAll(/\{\w+\}/g, 'some-id');
        const answer = await app.inject({ method: row.method, url });

        expect(answer.body, `${row.method} ${url}`).toBe(id);
      }
    }
    await app.close();
  });
});
