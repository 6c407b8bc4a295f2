import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GOALS } from './goals.ts';
import { PEERS, titleOfPeer } from './peers.ts';
import { workloadOf } from './workloads.ts';

describe('the peers', () => {
  it('have a program each, and a title that says which version is pinned', () => {
    for (const peer of PEERS) {
      expect(existsSync(join(import.meta.dirname, '../peers', peer.program))).toBe(true);
      expect(titleOfPeer(peer)).toMatch(/ \(\d+\.\d+\.\d+, /);
    }
  });

  it('that a goal is judged by are among them', () => {
    const measured = PEERS.flatMap(({ key }) => [`peers/A/${key}`, `peers/E/${key}`]);
    const judged = GOALS.flatMap(({ criteria }) => criteria.map(({ figure }) => figure));

    expect(measured).toEqual(expect.arrayContaining(judged.filter((figure) => figure.startsWith('peers/'))));
  });

  it('with HTTP of their own create a workflow under a new key and a service under none', () => {
    const paths = PEERS.flatMap(({ ingress }) => (ingress === undefined ? [] : [ingress(workloadOf('E'))]));

    expect(paths).toEqual(['/workflow-e/{key}/run', '/service-e/run']);
  });
});
