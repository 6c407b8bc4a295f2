import type { TenantBudget, TenantBudgets } from '@weft/engine';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import { type CliError, unusable } from '../../exit-code.ts';

const PERIODS = ['day', 'month'] as const;
const LIMITS = ['maxTokens', 'maxCostUsd'] as const;

/** What tenants may spend on models, from the config file; throws CliError that names the field. */
export function readBudgets(block: Json | undefined): TenantBudgets | undefined {
  if (block === undefined) return undefined;
  return new Map(
    membersOf(block, 'budgets').map(([tenant, budget]) => [tenant, budgetOf(budget, `budgets.${tenant}`)]),
  );
}

function budgetOf(value: Json, field: string): TenantBudget {
  const periods = membersOf(value, field).map(([period, limits]) => {
    checkName(period, PERIODS, field);
    return [period, limitsOf(limits, `${field}.${period}`)];
  });
  if (periods.length === 0) throw bad(`${field} says nothing: give "day", "month" or both.`);
  return Object.fromEntries(periods) as TenantBudget;
}

function limitsOf(value: Json, field: string): Json {
  const limits = membersOf(value, field);
  if (limits.length === 0) throw bad(`${field} limits nothing: give "maxTokens", "maxCostUsd" or both.`);
  for (const [name, limit] of limits) {
    checkName(name, LIMITS, field);
    const isWhole = name === 'maxCostUsd' || Number.isInteger(limit);
    if (typeof limit !== 'number' || !isWhole || limit < 0 || limit > 1e12)
      throw bad(`${field}.${name} must be a ${name === 'maxTokens' ? 'whole ' : ''}number of at least 0.`);
  }
  return Object.fromEntries(limits);
}

function membersOf(value: Json, field: string): [string, Json][] {
  if (!isJsonObject(value)) throw bad(`${field} must be an object.`);
  return Object.entries(value);
}

function checkName(name: string, known: readonly string[], field: string): void {
  if (!known.includes(name)) throw bad(`${field}.${name}: unknown field; known are ${known.join(', ')}.`);
}

function bad(message: string): CliError {
  return unusable('bad_config', message);
}
