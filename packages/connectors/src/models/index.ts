export { createModels } from './create-models.ts';
export { type ModelsConfig, ModelsConfigError, readModelsConfig } from './models-config.ts';
