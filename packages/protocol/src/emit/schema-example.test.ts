import { describe, expect, it } from 'vitest';
import { ROUTES } from '../routes/routes.ts';
import { compileValidator } from '../validation/validate.ts';
import { answerExample, requestExample } from './http-reference.ts';

describe('the examples of operations', () => {
  it.each(
    ROUTES.filter(({ request }) => request !== undefined).map((route) => [route.operationId, route] as const),
  )('has a body that %s takes', (_, route) => {
    const validate = compileValidator(route.request?.schema ?? {});

    expect(validate(requestExample(route))).toEqual([]);
  });

  it.each(ROUTES.map((route) => [route.operationId, route] as const))(
    'has an answer that %s may give',
    (_, route) => {
      const found = answerExample(route);
      if (found?.schema === undefined) return;

      expect(compileValidator(found.schema)(found.example)).toEqual([]);
    },
  );
});
