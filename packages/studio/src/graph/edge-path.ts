import type { EdgeRoute } from './layout.ts';

const RADIUS = 6;

/** A way of straight lines as the path of an SVG, its corners rounded. */
export function edgePath(points: EdgeRoute['points']): string {
  return points
    .map((point, index) => {
      const [before, after] = [points[index - 1], points[index + 1]];
      if (before === undefined) return `M${point.x} ${point.y}`;
      if (after === undefined) return `L${point.x} ${point.y}`;
      const [from, to] = [towards(point, before), towards(point, after)];
      return `L${from.x} ${from.y}Q${point.x} ${point.y} ${to.x} ${to.y}`;
    })
    .join('');
}

/** A little way from a corner to the next one, at most half of it. */
function towards(
  corner: { x: number; y: number },
  other: { x: number; y: number },
): { x: number; y: number } {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const share = length === 0 ? 0 : Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * share, y: corner.y + (other.y - corner.y) * share };
}
