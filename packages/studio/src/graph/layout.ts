import ElkApi, { type ELK as Elk, type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk-api.js';
import workerAddress from 'elkjs/lib/elk-worker.min.js?url';
import type { GraphEdge, GraphModel, GraphNode } from './graph-model.ts';
import { layersOf } from './layers.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The way of an edge around the boxes, and the middle of its label. */
export interface EdgeRoute {
  readonly points: readonly Point[];
  readonly label: Point;
}

export interface Layout {
  /** Around everything that is drawn. */
  readonly bounds: Box;
  /** By the id of the node. */
  readonly boxes: ReadonlyMap<string, Box>;
  /** By the place of the edge in the graph. */
  readonly routes: ReadonlyMap<number, EdgeRoute>;
}

/** A graph that takes longer is shown as a list. */
const LONGEST_MS = 2_000;

export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 52;
const FRAME_PADDING = '[top=56,left=18,bottom=18,right=18]';
/** A chain of more layers continues in the next row, so that its boxes can be read. */
const LAYERS_IN_A_ROW = 6;

/** Fetched with the first graph, and kept for the next. */
let worker: Promise<Elk> | undefined;

async function readyWorker(): Promise<Elk> {
  const elk = new ElkApi({ workerUrl: workerAddress });
  // Fetching the worker, which is large, is not counted as time of a layout.
  await elk.layout({ id: 'root' });
  return elk;
}

/** Layers from left to right or from top to bottom, worked out in a worker; undefined when that takes too long. */
export async function layOut(graph: GraphModel, shape: Shape): Promise<Layout | undefined> {
  worker ??= readyWorker();
  const used = worker;
  const elk = await used.catch((error: unknown) => {
    worker = undefined;
    throw error;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), LONGEST_MS);
  });
  try {
    const layout = await Promise.race([drawable(elk, graph, shape), tooLong]);
    if (layout !== undefined) return layout;
    elk.terminateWorker();
    if (worker === used) worker = undefined;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** What a layout has to keep to. */
export interface Shape {
  readonly direction: 'RIGHT' | 'DOWN';
  readonly heightOf: (node: GraphNode) => number;
}

/** In rows where it is long. Wrapping is known to lose the way of an edge now and then; then it is one long row. */
async function drawable(elk: Elk, graph: GraphModel, shape: Shape): Promise<Layout> {
  const wrapped = layoutOf(await elk.layout(inputOf(graph, shape, true)));
  return isConnected(graph, wrapped) ? wrapped : layoutOf(await elk.layout(inputOf(graph, shape, false)));
}

/** Whether every edge that has a way leads from its source to its target. */
function isConnected({ edges }: Pick<GraphModel, 'edges'>, { boxes, routes }: Layout): boolean {
  return edges.every(({ source, target }, index) => {
    const points = routes.get(index)?.points;
    return (
      points === undefined ||
      (touches(points[0], boxes.get(source)) && touches(points.at(-1), boxes.get(target)))
    );
  });
}

const NEAR = 3;

function touches(point: Point | undefined, box: Box | undefined): boolean {
  if (point === undefined || box === undefined) return false;
  const [right, below] = [point.x - box.x, point.y - box.y];
  return right >= -NEAR && right <= box.width + NEAR && below >= -NEAR && below <= box.height + NEAR;
}

function inputOf(graph: GraphModel, { direction, heightOf }: Shape, mayWrap: boolean): ElkNode {
  const frameOf = new Map(graph.nodes.map(({ id, frame }) => [id, frame]));
  const lines = graph.edges.map((edge, index) => ({ edge, index }));
  const level = (frame: string | undefined): Pick<ElkNode, 'layoutOptions' | 'children' | 'edges'> => {
    const nodes = graph.nodes.filter((node) => node.frame === frame);
    const edges = lines.filter(
      ({ edge: { source, target } }) => frameOf.get(source) === frame && frameOf.get(target) === frame,
    );
    return {
      layoutOptions: {
        ...optionsOf(
          nodes,
          edges.map(({ edge }) => edge),
          mayWrap && direction === 'RIGHT',
        ),
        'elk.direction': direction,
      },
      children: nodes.map((node) =>
        node.loop === 'open'
          ? { id: node.id, ...level(node.id) }
          : { id: node.id, width: NODE_WIDTH, height: heightOf(node) },
      ),
      edges: edges.map(({ edge, index }) => elkEdge(edge, index)),
    };
  };
  return { id: 'root', ...level(undefined) };
}

function optionsOf(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  mayWrap: boolean,
): Record<string, string> {
  const hasLabels = edges.some(({ label }) => label !== undefined);
  return {
    'elk.algorithm': 'layered',
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.padding': FRAME_PADDING,
    'elk.layered.spacing.nodeNodeBetweenLayers': hasLabels ? '92' : '56',
    'elk.layered.spacing.edgeNodeBetweenLayers': '20',
    'elk.spacing.nodeNode': '28',
    'elk.spacing.edgeNode': '16',
    'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
    ...(mayWrap &&
      layersOf({ nodes, edges }) > LAYERS_IN_A_ROW && {
        'elk.layered.wrapping.strategy': 'MULTI_EDGE',
        'elk.aspectRatio': '2.2',
      }),
  };
}

function elkEdge({ source, target }: GraphEdge, index: number): ElkExtendedEdge {
  return { id: String(index), sources: [source], targets: [target] };
}

/** Everything of a frame is placed relative to it. */
function layoutOf(root: ElkNode): Layout {
  const boxes = new Map<string, Box>();
  const routes = new Map<number, EdgeRoute>();
  const place = (parent: ElkNode, origin: Point): void => {
    for (const edge of parent.edges ?? []) {
      const route = routeOf(edge, origin);
      if (route !== undefined) routes.set(Number(edge.id), route);
    }
    for (const child of parent.children ?? []) {
      const { id, x = 0, y = 0, width = NODE_WIDTH, height = NODE_HEIGHT } = child;
      const at = { x: origin.x + x, y: origin.y + y };
      boxes.set(id, { ...at, width, height });
      place(child, at);
    }
  };
  place(root, { x: 0, y: 0 });
  return { bounds: boundsOf(boxes, routes), boxes, routes };
}

function boundsOf(boxes: Layout['boxes'], routes: Layout['routes']): Box {
  const [xs, ys]: [number[], number[]] = [[], []];
  for (const { x, y, width, height } of boxes.values()) {
    xs.push(x, x + width);
    ys.push(y, y + height);
  }
  for (const { points } of routes.values())
    for (const { x, y } of points) {
      xs.push(x);
      ys.push(y);
    }
  const [x, y] = [smallest(xs), smallest(ys)];
  return {
    x,
    y,
    width: -smallest(xs.map((each) => -each)) - x,
    height: -smallest(ys.map((each) => -each)) - y,
  };
}

function smallest(values: readonly number[]): number {
  return values.reduce((least, each) => Math.min(least, each), values[0] ?? 0);
}

function routeOf({ sections }: ElkExtendedEdge, origin: Point): EdgeRoute | undefined {
  const section = sections?.[0];
  if (section === undefined) return undefined;
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }) => ({
    x: origin.x + x,
    y: origin.y + y,
  }));
  return { points, label: middleOfLongest(points) };
}

/** Labels are not given to the layout, which places boxes worse and loses edges with them. */
function middleOfLongest(points: readonly Point[]): Point {
  let [best, longest] = [points[0] ?? { x: 0, y: 0 }, -1];
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (from === undefined) continue;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length > longest) [best, longest] = [{ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }, length];
  }
  return best;
}
