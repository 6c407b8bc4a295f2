/** 8 ms, 1.2 s, 3 min 20 s, 2 h 5 min, 4 d 1 h: two units at most. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return twoUnits(ms, 60_000, 'min', 1000, 's');
  if (ms < 86_400_000) return twoUnits(ms, 3_600_000, 'h', 60_000, 'min');
  return twoUnits(ms, 86_400_000, 'd', 3_600_000, 'h');
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? `${whole} ${largeName}` : `${whole} ${largeName} ${rest} ${smallName}`;
}

/** How long ago a moment was, for lists. */
export function agoText(iso: string, now: number): string {
  const ms = now - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  return ms < 1000 ? 'just now' : `${durationText(ms - (ms % 1000)).replace(/\.0 s$/, ' s')} ago`;
}

/** The time between two ISO moments; undefined when one is missing. */
export function betweenText(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isNaN(ms) ? undefined : durationText(ms);
}
