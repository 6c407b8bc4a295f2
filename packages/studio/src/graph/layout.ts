import Elk, { type ElkNode } from 'elkjs/lib/elk-api.js';
import workerAddress from 'elkjs/lib/elk-worker.min.js?url';
import { type GraphModel, layersOf, NODE_HEIGHT, NODE_WIDTH } from './graph-model.ts';

export type Positions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** A graph that takes longer is shown as a list. */
const LONGEST_MS = 2_000;

/** Positions in layers from left to right, worked out beside the page; undefined when that takes too long. */
export async function layOut({ nodes, edges }: GraphModel): Promise<Positions | undefined> {
  const elk = new Elk({ workerUrl: workerAddress });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), LONGEST_MS);
  });
  try {
    const laidOut = await Promise.race([elk.layout(inputOf({ nodes, edges })), tooLong]);
    if (laidOut === undefined) return undefined;
    return new Map((laidOut.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
  } finally {
    clearTimeout(timer);
    elk.terminateWorker();
  }
}

/** A chain of more layers continues in the next row, so that its boxes can be read. */
const LAYERS_IN_A_ROW = 6;

function inputOf({ nodes, edges }: Pick<GraphModel, 'nodes' | 'edges'>): ElkNode {
  const hasLabels = edges.some(({ label }) => label !== undefined);
  return {
    id: 'root',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': 'RIGHT',
      'elk.layered.spacing.nodeNodeBetweenLayers': hasLabels ? '92' : '56',
      'elk.spacing.nodeNode': '28',
      'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
      ...(layersOf({ nodes, edges }) > LAYERS_IN_A_ROW && {
        'elk.layered.wrapping.strategy': 'MULTI_EDGE',
        'elk.aspectRatio': '2.2',
      }),
    },
    children: nodes.map(({ id }) => ({ id, width: NODE_WIDTH, height: NODE_HEIGHT })),
    edges: edges.map(({ id, source, target }, index) => ({
      id: `${index}:${id}`,
      sources: [source],
      targets: [target],
    })),
  };
}
