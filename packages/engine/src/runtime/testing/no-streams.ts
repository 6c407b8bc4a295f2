import type { Egress } from '../../model/node-type.ts';

/** For a way out of which a test reads whole answers only. */
export const NO_STREAMS: Pick<Egress, 'open'> = {
  open: () => Promise.reject(new Error('this test opens no streams')),
};
