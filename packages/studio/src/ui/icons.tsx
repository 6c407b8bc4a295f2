import type { ReactNode } from 'react';

/** Drawn here, so that no font of icons is loaded. All are decoration: a word stands next to each. */
const PATHS = {
  check: <path d="M3.5 8.5l3 3 6-7" />,
  cross: <path d="M4.5 4.5l7 7m0-7l-7 7" />,
  pause: <path d="M6 4v8m4-8v8" />,
  hourglass: (
    <path d="M4.5 2.5h7m-7 11h7M5.5 2.5c0 3 5 3.5 5 5.5s-5 2.5-5 5.5m5-11c0 3-5 3.5-5 5.5s5 2.5 5 5.5" />
  ),
  person: <path d="M8 8a2.5 2.5 0 100-5 2.5 2.5 0 000 5zm-5 5.5c.5-2.5 2.5-4 5-4s4.500 1.500 5 4" />,
  circle: <circle cx="8" cy="8" r="5" />,
  dash: <path d="M4 8h8" />,
  arc: <path d="M13 8a5 5 0 10-2 4" className="spin" />,
  again: <path d="M12.500 6a5 5 0 10.300 3.500M13 3v3.500H9.500" />,
  list: <path d="M5.500 4h8m-8 4h8m-8 4h8M2.500 4h.010m-.010 4h.010m-.010 4h.010" />,
  inbox: <path d="M2.500 9l2-6h7l2 6v4h-11zm0 0h3l1 2h3l1-2h3" />,
  graph: <path d="M2.500 3.500h4v3h-4zm7 6h4v3h-4zM4.500 6.500v4.500h5M9.500 3.500h4v3h-4z" />,
  columns: <path d="M2.500 3h4.500v10H2.500zm6.500 0h4.500v10H9z" />,
  moon: <path d="M13 9.500A5.500 5.500 0 116.500 3 4.500 4.500 0 0013 9.500z" />,
  sun: (
    <path d="M8 10.500a2.500 2.500 0 100-5 2.500 2.500 0 000 5zM8 2v1.500m0 9V14M2 8h1.500m9 0H14M3.800 3.800l1 1m6.400 6.400l1 1m0-8.400l-1 1m-6.400 6.400l-1 1" />
  ),
  leave: <path d="M9.500 3h-6v10h6M7 8h7m-2.500-2.500L14 8l-2.500 2.500" />,
  fork: <path d="M4.500 2.500v11m0-4c0-3 7-1.500 7-5.500m0-1.500v1.500" />,
  copy: <path d="M5.500 5.500h7v8h-7zm-2 5v-8h7" />,
  play: <path d="M5 3.500l7 4.500-7 4.500z" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 14 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {PATHS[name]}
    </svg>
  );
}
