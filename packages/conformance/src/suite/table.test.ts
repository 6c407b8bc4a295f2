import { describe, expect, it } from 'vitest';
import { CHECKS } from '../areas/checks.ts';
import { MUTANTS } from '../areas/mutants.ts';
import { REQUIREMENTS, type RequirementId } from '../areas/requirements.ts';
import { PROFILES } from '../requirements/profiles.ts';
import { DOCUMENTS, type Requirement } from '../requirements/requirement.ts';

const rows = Object.entries(REQUIREMENTS) as [RequirementId, Requirement][];

describe('the table of requirements', () => {
  it.each(rows)('%s has a number, a place and either a check or the reason why not', (id, row) => {
    const checks = CHECKS.filter(({ proves }) => proves.includes(id));

    expect(id).toMatch(/^[A-Z0-9]+-[1-9]\d*$/);
    expect(Object.keys(DOCUMENTS)).toContain(row.document);
    expect(row.section).not.toBe('');
    expect(row.text).toMatch(/^[A-Z"`'].*\.$/);
    if (row.notTested !== undefined) expect(row.notTested).toMatch(/^(?:[a-z]|WASM|MCP).*[^.]$/);
    expect(checks.length > 0, `${id} has both or neither`).toBe(row.notTested === undefined);
  });
});

describe('profiles', () => {
  it.each(Object.keys(PROFILES))('%s has requirements, and checks that prove some of them', (profile) => {
    const own = rows.filter(([, row]) => row.profiles?.some((name) => name === profile) === true);

    const proven = own.filter(([id]) => CHECKS.some(({ proves }) => proves.includes(id)));

    expect(own).not.toEqual([]);
    expect(proven).not.toEqual([]);
  });
});

describe('checks', () => {
  it('have names of their own', () => {
    const names = CHECKS.map(({ id }) => id);

    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]+\/[a-z0-9-]+$/);
  });

  it('each prove something', () => {
    for (const { id, proves } of CHECKS) expect(proves, id).not.toEqual([]);
  });
});

describe('mutants', () => {
  it('have names of their own, and checks that exist', () => {
    const names = MUTANTS.map(({ id }) => id);
    const checks = new Set(CHECKS.map(({ id }) => id));

    expect(new Set(names).size).toBe(names.length);
    for (const { id, caughtBy } of MUTANTS) {
      expect(caughtBy, id).not.toEqual([]);
      for (const check of caughtBy) expect(checks, `${id} is caught by ${check}`).toContain(check);
    }
  });
});
