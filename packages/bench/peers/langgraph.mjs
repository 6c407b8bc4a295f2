/**
 * LangGraph with its SQLite checkpointer, in process: `node langgraph.mjs PORT ECHO FOLDER shipped|strict`. As shipped,
 * checkpoints are written while the next step already runs, and SQLite syncs only at its own checkpoints. Strict waits for each
 * checkpoint before the next step (`durability: "sync"`) and commits with `synchronous=FULL`.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { serveControl } from './control.mjs';
import { createEchoCall } from './echo-call.mjs';

const [port, echoUrl, folder, mode] = process.argv.slice(2);
const isStrict = mode === 'strict';
const State = Annotation.Root({ last: Annotation() });

const saver = SqliteSaver.fromConnString(join(folder, 'langgraph.db'));
saver.setup();
if (isStrict) saver.db.pragma('synchronous=FULL');

function chain(steps, step) {
  const names = Array.from({ length: steps }, (_, index) => `n${index + 1}`);
  const graph = new StateGraph(State);
  for (const name of names) graph.addNode(name, step);
  for (const [index, name] of names.entries()) graph.addEdge(names[index - 1] ?? START, name);
  return graph.addEdge(names.at(-1), END).compile({ checkpointer: saver });
}

const callEcho = createEchoCall(echoUrl);
const graphs = {
  A: chain(1, async () => ({ last: null })),
  E: chain(10, async () => ({ last: await callEcho() })),
};

serveControl({
  port: Number(port),
  run: (workload) =>
    graphs[workload].invoke(
      { last: null },
      { configurable: { thread_id: randomUUID() }, ...(isStrict ? { durability: 'sync' } : {}) },
    ),
  close: async () => saver.db.close(),
});
