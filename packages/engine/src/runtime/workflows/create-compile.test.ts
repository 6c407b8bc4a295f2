import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { node, workflow } from '../../core/compile/testing/compile-testing.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { createCompile, ownNodeTypes } from './create-compile.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';

describe('definitions that come in a crowd', () => {
  it('are made ready one at a time for a tenant, and a few in all', async () => {
    const options = { store: openMemoryStore(), version: '0' };
    const compile = createCompile(options, DEFAULT_LIMITS, {
      own: ownNodeTypes(options),
      ofUsers: {
        read: () => Promise.reject(new Error('no type of a user is needed')),
        asNodeType: () => {
          throw new Error('no type of a user is needed');
        },
      },
      agents: { find: () => Promise.reject(new Error('no agent is needed')) },
    });
    const open = new Map<string, number>();
    let mostOfOne = 0;
    let mostInAll = 0;
    const change = (tenant: string, by: number): void => {
      const own = (open.get(tenant) ?? 0) + by;
      open.set(tenant, own);
      mostOfOne = Math.max(mostOfOne, own);
      mostInAll = Math.max(
        mostInAll,
        [...open.values()].reduce((sum, count) => sum + count, 0),
      );
    };
    const makeReady = async (tenant: string): Promise<void> => {
      let isBegun = false;
      const definition: JsonObject = workflow(Array.from({ length: 2_000 }, (_, at) => node(`n${at}`)));
      const { nodes } = definition;
      const begins = {
        ...definition,
        get nodes() {
          if (!isBegun) change(tenant, 1);
          isBegun = true;
          return nodes;
        },
      };
      await compile(begins, tenant, tenant, 'offered');
      change(tenant, -1);
    };

    const tenants = Array.from({ length: 24 }, (_, at) => `t${at % 6}`);
    await Promise.all(tenants.map(makeReady));

    // The next one may begin before the waiter of the last is notified.
    expect(mostOfOne).toBeLessThanOrEqual(2);
    expect(mostInAll).toBeLessThanOrEqual(5);
  });
});
