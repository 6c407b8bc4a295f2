import { ModelListSchema, ModelTestSchema, TestModelSchema } from '../documents/agents/models.ts';
import { describeRoutes } from './route-description.ts';

/** Language models of the host's config file. */
export const MODEL_ROUTES = describeRoutes({
  listModels: {
    scope: 'manifest:read',
    summary: 'Providers of language models that the operator has configured, and what they may be asked for.',
    responses: { 200: { description: 'All of them.', schema: ModelListSchema } },
    errors: [],
  },
  testModel: {
    scope: 'host:admin',
    summary: 'Asks a model for one word now, outside of any run. It may cost what a request costs.',
    request: { schema: TestModelSchema, required: true },
    responses: { 200: { description: 'That it answered, or why it did not.', schema: ModelTestSchema } },
    errors: ['validation_error'],
  },
});
