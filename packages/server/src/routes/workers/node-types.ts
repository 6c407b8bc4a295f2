import { HostError } from '@weft/protocol';
import type { Routes } from '../../app-context.ts';

/** Node types that users have defined. */
export const nodeTypeRoutes: Routes = (serve) => {
  for (const operation of ['listNodeTypes', 'mapNodeType'] as const)
    serve(operation, () => {
      throw new HostError('not_found', 'Not served yet.');
    });
};
