import { HostError } from '@weft/protocol';
import type { Settings } from '../ports/store.ts';
import type { Committer } from '../runtime/commits/committer.ts';
import { type RandomBytes, randomId } from '../runtime/runs/ids.ts';
import { writeFailure } from '../runtime/commits/write-failure.ts';

/** What a store keeps of the hosts that use it, settled by the first of them. */
export interface SettingTools {
  readonly store: Settings;
  readonly committer: Pick<Committer, 'submit'>;
  readonly random: RandomBytes;
}

const HOST_ID = 'host.id';

/** What tells this host from others: made once, the same for every process and for the life of the store. Not secret. */
export async function settleHostId({ store, committer, random }: SettingTools): Promise<string> {
  const known = await store.readSetting(HOST_ID);
  if (known !== undefined) return known;
  const value = `weft-${Buffer.from(random(12)).toString('hex')}`;
  const batchId = randomId(random);
  const result = await committer.submit({ kind: 'setting', batchId, name: HOST_ID, value });
  if (result.state === 'committed') return value;
  if (result.state === 'refused' && result.reason === 'setting_conflict') return result.value;
  throw writeFailure(result);
}

/** A store that was live once can never become a test host's, and the other way round. */
export async function settleMode({ committer, random }: SettingTools, value: 'test' | 'live'): Promise<void> {
  const batchId = randomId(random);
  const result = await committer.submit({ kind: 'setting', batchId, name: 'host.mode', value });
  if (result.state === 'committed') return;
  if (result.state === 'refused' && result.reason === 'setting_conflict') {
    throw new HostError(
      'conflict',
      `This store belongs to a ${result.value} host and cannot become ${value}. Use another data folder.`,
      { mode: result.value },
    );
  }
  throw writeFailure(result);
}
