import type { Finding } from './problems.ts';

/**
 * A value that fits no branch of a union fails in every branch, and a list of all these failures does not help. This
 * keeps the failures of the branch that was meant (its `type` fits, the rest does not), or one sentence when no branch
 * can be identified.
 */
export function pruneUnions(errors: readonly Finding[]): Finding[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  // Outermost first, so that what an outer union drops is not looked at again.
  unions.sort((left, right) => left.schemaPath.length - right.schemaPath.length);
  let kept = [...errors];
  for (const union of unions.slice(0, 50)) {
    if (kept.includes(union)) kept = pruneUnion(union, kept);
  }
  return kept;
}

function pruneUnion(union: Finding, errors: readonly Finding[]): Finding[] {
  const inside = (error: Finding) =>
    error !== union &&
    error.schemaPath.startsWith(`${union.schemaPath}/`) &&
    (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`));
  const branches = new Map<string, Finding[]>();
  for (const error of errors.filter(inside)) {
    const branch = error.schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0] ?? '';
    branches.set(branch, [...(branches.get(branch) ?? []), error]);
  }
  const meant = [...branches.values()].filter(
    (failures) => !failures.some((error) => rulesOut(error, union)),
  );
  const rest = errors.filter((error) => !inside(error));
  const [only] = meant;
  if (meant.length === 1 && only !== undefined) return [...rest.filter((error) => error !== union), ...only];
  const choice = discriminatorChoice([...branches.values()], union);
  return choice === undefined ? rest : rest.map((error) => (error === union ? choice : error));
}

/** The branch is for another kind of value: wrong constant in one of its fields, or wrong type altogether. */
function rulesOut(error: Finding, union: Finding): boolean {
  const depth = error.instancePath.slice(union.instancePath.length).split('/').length - 1;
  return (error.keyword === 'const' && depth <= 1) || (error.keyword === 'type' && depth === 0);
}

/** All branches want another constant at the same place: say which constants there are. */
function discriminatorChoice(branches: readonly Finding[][], union: Finding): Finding | undefined {
  const constants = branches.flatMap((failures) =>
    failures.filter((error) => error.keyword === 'const' && rulesOut(error, union)),
  );
  const [first] = constants;
  if (first === undefined || constants.length !== branches.length) return undefined;
  if (constants.some((error) => error.instancePath !== first.instancePath)) return undefined;
  const allowedValues = constants.map((error) => (error.params as { allowedValue: unknown }).allowedValue);
  return { ...first, keyword: 'enum', params: { allowedValues } };
}
