/** What an operator can do about a database that lacks acknowledged writes. */
export const LOST_DATA_WAYS_OUT =
  'Put the missing files back, or restore a backup into a new folder: weft restore FILE --data DIR. ' +
  'To continue without the missing writes (permanent): weft serve --accept-data-loss';
