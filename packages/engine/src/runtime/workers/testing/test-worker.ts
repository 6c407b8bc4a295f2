import {
  type JsonObject,
  type RegisteredWorker,
  type RegisterWorkerRequest,
  type TaskMessage,
  type TaskReceipt,
  type TaskReport,
  type WorkerMessage,
} from '@weft/protocol';
import { Type } from 'typebox';
import type { Caller, Host } from '../../../host/host.ts';
import type { EffectNodeType, ServedBy } from '../../../model/node-type.ts';
import { alice, until } from '../../testing/test-host.ts';

/** A worker inside the test: what it is sent waits until the test looks at it. */
export interface TestWorker {
  readonly registered: RegisteredWorker;
  readonly messages: WorkerMessage[];
  tasks(): TaskMessage[];
  /** The task that arrives next. */
  next(): Promise<TaskMessage>;
  report(report: TaskReport): Promise<TaskReceipt | undefined>;
  succeed(task: TaskMessage, outputs?: JsonObject): Promise<TaskReceipt | undefined>;
  fail(task: TaskMessage, error: { code: string; message: string; retryable?: boolean }): Promise<unknown>;
  /** False: the stream has no room. */
  room(hasRoom: boolean): void;
  disconnect(): void;
  close(): Promise<boolean>;
}

export const SERVED = { typeId: 'acme.work', version: '1.0.0' } as const;

export async function connectWorker(
  host: Host,
  request: Partial<RegisterWorkerRequest> = {},
  caller: Caller = alice,
): Promise<TestWorker> {
  const registered = await host.workers.register(
    caller,
    { name: 'a worker', capacity: 1, types: [SERVED], ...request },
    true,
  );
  const { workerId } = registered;
  const messages: WorkerMessage[] = [];
  let hasRoom = true;
  let taken = 0;
  const stream = await host.workers.stream(caller, workerId, {
    send(line) {
      messages.push(JSON.parse(line) as WorkerMessage);
      return hasRoom;
    },
    offer: (line) => void messages.push(JSON.parse(line) as WorkerMessage),
    end: () => undefined,
  });
  stream?.ready();
  const tasks = (): TaskMessage[] => messages.filter((message) => message.type === 'task');
  const report = (said: TaskReport) => host.workers.report(caller, workerId, said);
  return {
    registered,
    messages,
    tasks,
    async next() {
      const task = await until(() => tasks()[taken]);
      taken += 1;
      return task;
    },
    report,
    succeed: ({ taskId, lease }, outputs = {}) => report({ results: [{ taskId, lease, outputs }] }),
    fail: ({ taskId, lease }, error) => report({ results: [{ taskId, lease, error }] }),
    room(isThere) {
      hasRoom = isThere;
      if (isThere) stream?.ready();
    },
    disconnect: () => stream?.closed(),
    close: () => host.workers.close(caller, workerId),
  };
}

/** A node type of the host `test.served` whose tasks go to workers that serve `SERVED`. */
export function servedType(served: Partial<ServedBy> = {}): EffectNodeType {
  const { secrets = [] } = served;
  return {
    kind: 'effect',
    typeId: 'test.served',
    title: 'Served',
    summary: 'Is performed by a worker.',
    config: Type.Object({}, { additionalProperties: true }),
    ...(secrets.length > 0 && { requiresSecrets: () => secrets }),
    servedBy: {
      ...SERVED,
      digest: 'd'.repeat(64),
      secrets,
      uses: [],
      checkInputs: () => [],
      checkOutputs: () => [],
      ...served,
    },
    perform: () => Promise.reject(new Error('a worker performs it')),
  };
}
