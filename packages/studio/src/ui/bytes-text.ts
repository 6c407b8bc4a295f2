const UNITS = ['B', 'KiB', 'MiB', 'GiB'];

/** `840 B`, `1.2 KiB`, `3.4 MiB`. */
export function bytesText(bytes: number): string {
  let [size, unit] = [bytes, 0];
  for (; size >= 1_024 && unit < UNITS.length - 1; unit += 1) size /= 1_024;
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}
