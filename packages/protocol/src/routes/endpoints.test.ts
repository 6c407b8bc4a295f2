import { describe, expect, it } from 'vitest';
import { ENDPOINTS, endpointOf, pathOf, pathParameters, takesIdempotencyKey } from './endpoints.ts';
import { IDEMPOTENCY_KEY } from './route-description.ts';
import { ROUTES } from './routes.ts';

describe('the table of endpoints', () => {
  it('fills the parameters of a path, percent-encoded', () => {
    expect(pathOf('resolveInterruptByRun', { runId: 'a/b', nodeId: 'gate[2]' })).toBe(
      '/v1/runs/a%2Fb/interrupts/gate%5B2%5D',
    );
    expect(endpointOf('pauseRun', { runId: 'r-1' })).toEqual({ method: 'POST', path: '/v1/runs/r-1:pause' });
    expect(endpointOf('createRun')).toEqual({ method: 'POST', path: '/v1/runs' });
  });

  it('demands exactly the parameters of the path', () => {
    // Compiled, never called.
    const wrong = (): unknown[] => [
      // @ts-expect-error no parameter is given
      pathOf('getRun'),
      // @ts-expect-error one of two parameters is missing
      pathOf('resolveInterruptByRun', { runId: 'r' }),
      // @ts-expect-error the path has no such parameter
      pathOf('getRun', { runId: 'r', nodeId: 'n' }),
      // @ts-expect-error the path has no parameters
      pathOf('createRun', { runId: 'r' }),
      // @ts-expect-error there is no such operation
      pathOf('none'),
    ];

    expect(wrong).toBeTypeOf('function');
  });

  it('knows the writes that take an Idempotency-Key', () => {
    const keyed = ROUTES.filter(takesIdempotencyKey).map(({ operationId }) => operationId);
    const described = ROUTES.filter(({ headers = [] }) => headers.includes(IDEMPOTENCY_KEY));

    expect(keyed).toEqual(described.map(({ operationId }) => operationId));
    expect(takesIdempotencyKey(endpointOf('cancelRun', { runId: 'r' }))).toBe(true);
    expect(takesIdempotencyKey(endpointOf('backUp'))).toBe(false);
  });

  it('has aliases with the parameters of their path', () => {
    for (const row of Object.values(ENDPOINTS))
      if ('alias' in row) expect(pathParameters(row.alias)).toEqual(pathParameters(row.path));
  });

  it('has one parameter per pair of braces', () => {
    expect(pathParameters('/v1/runs/{runId}:pause')).toEqual(['runId']);
    expect(pathParameters('/v1/runs')).toEqual([]);
  });
});
