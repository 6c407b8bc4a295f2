/** The thread in which modules run (wasm-threads.ts). It knows nothing but what it is sent. */
import { parentPort } from 'node:worker_threads';
import { Asked } from './run-imports.ts';
import { type Instance, openInstance } from './instance.ts';
import type { FromThread, ToThread } from './thread-messages.ts';

function perform(message: ToThread): FromThread {
  let instance: Instance | undefined;
  try {
    const call = message.kind === 'invoke' ? message : { nowMs: 0, seed: '' };
    instance = openInstance(message.module, call);
    if (message.kind === 'describe') {
      const abiVersion = instance.abiVersion();
      return { kind: 'described', abiVersion, packName: instance.packName(), typeIds: instance.typeIds() };
    }
    const index = instance.typeIds().indexOf(message.typeId);
    if (index === -1)
      return {
        kind: 'failed',
        failure: { code: 'wasm_pack_unknown_type', message: `The module does not have ${message.typeId}.` },
        logs: [],
      };
    const response = instance.invoke(index, message.request);
    return { kind: 'answered', response, writes: instance.writes, logs: instance.logs };
  } catch (error) {
    if (error instanceof Asked)
      return { kind: 'asked', question: error.question, logs: instance?.logs ?? [] };
    const failure = instance?.failureOf(error) ?? {
      code: 'wasm_invocation_failed',
      message: `The module cannot be started: ${error instanceof Error ? error.message : String(error)}.`,
    };
    return { kind: 'failed', failure, logs: instance?.logs ?? [] };
  }
}

parentPort?.on('message', (message: ToThread) => parentPort?.postMessage(perform(message)));
