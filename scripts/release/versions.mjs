/** One version for all packages, which need each other in exactly that version, and a changelog that knows it. */
export function versionProblems(packages, changelog) {
  const versions = [...new Set(packages.map(({ manifest }) => manifest.version))];
  const [version] = versions;
  const problems = versions.length > 1 ? [`packages have different versions: ${versions.join(', ')}`] : [];
  for (const { manifest } of packages)
    for (const [name, wanted] of Object.entries(manifest.dependencies ?? {}))
      if (name.startsWith('@weft/') && wanted !== version)
        problems.push(`${manifest.name} needs ${name} ${wanted}, which is not ${version}`);
  if (!changelog.includes(`\n## ${version}`))
    problems.push(
      `CHANGELOG.md has no section "## ${version}": rename "Unreleased" when its entries are complete`,
    );
  return problems;
}
