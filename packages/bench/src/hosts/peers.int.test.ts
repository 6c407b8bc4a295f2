import { existsSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GOALS } from '../report/goals.ts';
import { missingPeers, PEERS, titleOfPeer } from './peers.ts';
import { workloadOf } from '../load/workloads.ts';

describe('the peers', () => {
  it('have a program each, and a title that says which version is pinned', () => {
    for (const peer of PEERS) {
      expect(existsSync(join(import.meta.dirname, '../../peers', peer.program))).toBe(true);
      expect(titleOfPeer(peer)).toMatch(/ \(\d+\.\d+\.\d+, /);
    }
  });

  it('are not started where they could reach the network', () => {
    const outside: NetworkInterfaceInfo = {
      address: '192.0.2.1',
      netmask: '255.255.255.0',
      family: 'IPv4',
      mac: '00:00:00:00:00:00',
      internal: false,
      cidr: '192.0.2.1/24',
    };

    expect(missingPeers({ eth0: [outside] })).toMatch(/npm ci|unshare/);
  });

  it('that a goal is evaluated by are among them', () => {
    const measured = PEERS.flatMap(({ key }) => [`peers/A/${key}`, `peers/E/${key}`]);
    const evaluated = GOALS.flatMap(({ criteria }) => criteria.map(({ figure }) => figure));

    expect(measured).toEqual(
      expect.arrayContaining(evaluated.filter((figure) => figure.startsWith('peers/'))),
    );
  });

  it('with HTTP of their own create a workflow under a new key and a service under none', () => {
    const paths = PEERS.flatMap(({ ingress }) => (ingress === undefined ? [] : [ingress(workloadOf('E'))]));

    expect(paths).toEqual(['/workflow-e/{key}/run', '/service-e/run']);
  });
});
