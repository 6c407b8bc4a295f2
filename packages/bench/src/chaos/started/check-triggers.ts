import type { Check } from '../checking/rules.ts';
import type { SentDelivery } from './started-history.ts';

/** Triggers: every delivery was sent many times, and was answered at least once in the end. */

/** S6. */
export function deliveriesStartOnce(check: Check): void {
  const { history, runs, report } = check;
  const acknowledged = new Set<string>();
  for (const delivery of history.started.deliveries)
    if (!delivery.isUnfit) startedOnce(check, delivery, acknowledged);
  for (const { runId, source } of runs.values())
    if (source?.kind === 'trigger' && !acknowledged.has(runId))
      report('S6', `${source.id} started a run that no delivery was answered with`, runId);
}

/** `acknowledged`: runs that earlier deliveries were answered with. */
function startedOnce({ runs, fact, report }: Check, delivery: SentDelivery, acknowledged: Set<string>): void {
  const { trigger, id, runIds, started } = delivery;
  fact('S6');
  if (runIds.length !== 1) report('S6', `${id} was said to be ${runIds.join(', ') || 'no run'}`);
  if (started > 1) report('S6', `${id} was said to have started a run ${started} times`);
  for (const runId of runIds) {
    if (acknowledged.has(runId)) report('S6', `${id} was said to be a run of another delivery`, runId);
    acknowledged.add(runId);
    const source = runs.get(runId)?.source;
    if (source?.kind !== 'trigger' || source.id !== trigger)
      report('S6', `${id} was acknowledged, and ${trigger} has no such run`, runId);
  }
}

/** S7. */
export function unfitDeliveriesKept({ history, fact, report }: Check): void {
  const { deliveries, letters } = history.started;
  const unfit = deliveries.filter(({ isUnfit }) => isUnfit);
  for (const delivery of unfit) {
    fact('S7');
    const { id, runIds } = delivery;
    if (runIds.length > 0) report('S7', `${id} cannot start a run, and is ${runIds.join(', ')}`);
    if (delivery.letters.length > 1) report('S7', `${id} became ${delivery.letters.join(', ')}`);
    for (const letter of delivery.letters) {
      if (!letters.includes(letter)) report('S7', `${id} became ${letter}, which is not there`);
    }
  }
  // The answer with the id of a letter may be lost; that there is one for each is not.
  if (letters.length !== unfit.length)
    report(
      'S7',
      `${unfit.length} deliveries cannot start a run, and there are ${letters.length} dead letters`,
    );
}

const REFUSED = 401;

/** S8. That it starts nothing is in S6: no run but those that were answered. */
export function forgedDeliveriesRefused({ history, fact, report }: Check): void {
  for (const { trigger, status } of history.started.forged) {
    fact('S8');
    if (status !== REFUSED) report('S8', `a forged delivery to ${trigger} was answered ${status}`);
  }
}
