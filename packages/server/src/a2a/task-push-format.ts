import type { TaskPushFormat } from '@weft/engine';

/** How a host tells tasks over A2A. The protocol's own code is loaded with the first of them. */
export const A2A_PUSHES: TaskPushFormat = {
  async render(task, version) {
    const { renderPush } = await import('./push-format.ts');
    return await renderPush(task, version);
  },
};
