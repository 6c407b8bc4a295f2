import type { CaseResult, HostileResult } from './run.ts';

/** What another tenant may feel of an attack. */
export const LIMITS = { p99: 250, max: 1_000 } as const;

export function breachesOf({ cases, lost }: HostileResult): string[] {
  return [
    ...lost.map((what) => `the other tenant: ${what}`),
    ...cases.flatMap(({ kind, name, p99, max, deaths, outcome, lacks }) => [
      ...(lacks === undefined ? [] : [`${kind}, ${name}: ${outcome}, not ${lacks}`]),
      ...(deaths > 0 ? [`${kind}, ${name}: the process ended ${deaths} times`] : []),
      ...(p99 >= LIMITS.p99 ? [`${kind}, ${name}: p99 ${p99.toFixed(0)} ms of at most ${LIMITS.p99}`] : []),
      ...(max >= LIMITS.max ? [`${kind}, ${name}: max ${max.toFixed(0)} ms of at most ${LIMITS.max}`] : []),
    ]),
  ];
}

export function renderHostile(result: HostileResult): string {
  const lines = [result.quiet, ...result.cases].map(line);
  const all = [...result.cases].sort((a, b) => b.max - a.max)[0];
  return [
    `${result.store}: ${result.cases.length} cases, ${result.acknowledged} runs of another tenant`,
    '',
    '   p50   p99    max ms  case',
    ...lines,
    '',
    `worst: ${all === undefined ? 'none' : `${all.kind}, ${all.name}, ${all.max.toFixed(0)} ms`}`,
  ].join('\n');
}

function line({ kind, name, outcome, p50, p99, max }: CaseResult): string {
  const numbers = [p50, p99, max].map((ms) => ms.toFixed(0).padStart(6)).join('');
  return `${numbers}     ${[kind, name].filter(Boolean).join(': ')}${outcome === '' ? '' : ` → ${outcome}`}`;
}
