import type { Answer } from './attacker.ts';

/** How often each status was answered. */
export function statusesOf(answers: readonly Answer[]): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, times]) => `${times}×${status}`).join(' ');
}
