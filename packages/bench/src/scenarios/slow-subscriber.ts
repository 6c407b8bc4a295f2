import { KEY, weft } from '../hosts/contenders.ts';
import type { SubscribeResult } from '../measuring/jobs.ts';
import { type Scenario, sized } from '../measuring/scenario.ts';
import { type About, createTally } from '../measuring/tally.ts';
import { playOnHost } from './subscribed-run.ts';

/** Large enough that a stream which is not read fills its socket long before the run is over. */
const STEP_BYTES = 24_000;

export const slowSubscriber: Scenario = {
  name: 'slow-subscriber',
  title: 'Stuck subscribers next to reading ones',
  rawLimit: 'the same run without the stuck ones, in turn',
  goals: [],
  async measure(lab) {
    const server = await weft.start({ folder: lab.newFolder('slow') }, lab.echo);
    lab.cleanUp(() => server.stop());
    const tally = createTally();
    const broadcast = {
      targets: [{ port: server.port, key: KEY }],
      subscribers: sized(lab, 50, 10),
      steps: sized(lab, 90, 40),
      stepUrl: lab.echo.slowUrl(20, STEP_BYTES),
    };
    const stuck = sized(lab, 50, 10);
    for (let round = 0; round < lab.rounds; round += 1) {
      const without = await playOnHost(lab.driver, lab.echo, broadcast);
      const before = server.rssBytes() ?? Number.NaN;
      const withStuck = await playOnHost(lab.driver, lab.echo, { ...broadcast, stuck });
      const put = (key: string, about: About, read: (result: SubscribeResult) => number) => {
        tally.add(`slow/${key}`, about, read(withStuck));
        tally.against(`slow/${key}`, 'without them', read(without));
      };
      const title = `next to ${stuck} stuck subscribers`;
      put('run', { title: `length of the run ${title}`, unit: 'ms', better: 'less' }, (r) => r.elapsedMs);
      put('p50', { title: `receipt ${title}, p50`, unit: 'ms', better: 'less' }, (r) => r.p50Ms);
      put('p99', { title: `receipt ${title}, p99`, unit: 'ms', better: 'less' }, (r) => r.p99Ms);
      const wrong = withStuck.lost + withStuck.repeated + withStuck.unfinished;
      tally.add('slow/wrong', { title: `lost or repeated ${title}`, unit: 'events', better: 'less' }, wrong);
      const grown = ((server.rssBytes() ?? Number.NaN) - before) / 2 ** 20;
      tally.add('slow/memory', { title: `memory grown ${title}`, unit: 'MiB', better: 'less' }, grown);
    }
    return { figures: tally.figures() };
  },
};
