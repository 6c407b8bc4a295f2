import {
  allowsModel,
  type BudgetBreach,
  reachedLimit,
  type RunBudget,
  type Spent,
} from '../../core/costs/budget.ts';
import { fromNanoUsd } from '../../core/costs/money.ts';
import { costOf, findPrice, type Prices } from '../../core/costs/prices.ts';
import { costName, tokenCount } from '../../core/costs/usage-rows.ts';
import { type NodeEvent, NodeFailure } from '../../model/node-type.ts';
import {
  type ModelContext,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type Models,
  POLICY_DENIED,
  type SpentCall,
  type Usage,
} from '../../ports/models.ts';

/** A call that was not made, because the budget of the run or of its tenant is used up: the run ends with this. */
export class BudgetFailure extends NodeFailure {
  readonly breach: BudgetBreach;

  constructor(breach: BudgetBreach) {
    super('budget_exhausted', 'The budget is used up.');
    this.breach = breach;
  }
}

/** What every model call of a host is counted and paid by. */
export interface ModelCosts {
  /** The price lists in force now, the newest first. */
  prices(): Promise<readonly Prices[]>;
  /** The first budget of the tenant that is used up. */
  tenantBreach(tenant: string): Promise<BudgetBreach | undefined>;
  /** Said at once, so that the next call of this process counts it, before it is durable. */
  noteSpent(tenant: string, spent: Spent): void;
}

export interface MeterPlace {
  readonly tenant: string;
  readonly nodeId: string;
  readonly budget?: RunBudget | undefined;
  /** By the run, when the effect was asked for. */
  readonly spent?: Spent | undefined;
}

/** Counts the model calls of one performance of an effect, and makes none for which there is no budget left. */
export class ModelMeter {
  readonly #events: NodeEvent[] = [];
  /** Requests that have neither a reply nor an end. */
  readonly #open = new Set<() => SpentCall | undefined>();
  #isSettled = false;
  readonly #costs: ModelCosts;
  readonly #place: MeterPlace;
  #prices: readonly Prices[] = [];
  #tokens: number;
  #nanoUsd: number;

  constructor(costs: ModelCosts, place: MeterPlace) {
    this.#costs = costs;
    this.#place = place;
    this.#tokens = place.spent?.tokens ?? 0;
    this.#nanoUsd = place.spent?.nanoUsd ?? 0;
  }

  metered(models: Models): Models {
    return {
      providerFor: (choice) => {
        const provider = models.providerFor(choice);
        return (
          provider && {
            id: provider.id,
            model: provider.model,
            call: (request, context) => this.#call(provider, request, context),
          }
        );
      },
    };
  }

  async #call(provider: ModelProvider, request: ModelRequest, context: ModelContext): Promise<ModelReply> {
    const { tenant } = this.#place;
    this.#prices = await this.#costs.prices();
    const breach = (await this.#costs.tenantBreach(tenant)) ?? this.#breach();
    if (breach !== undefined) throw new BudgetFailure(breach);
    const asked = provider.model ?? request.model;
    this.#check(provider.id, asked);
    const reply = await provider.call(request, {
      signal: context.signal,
      invocationId: context.invocationId,
      egress: context.egress,
      secrets: context.secrets,
      emit: (chunk) => context.emit(chunk),
      holdsClaim: () => context.holdsClaim(),
      onReasoning: context.onReasoning,
      meter: {
        mayAsk: (id, model) => this.#breach() === undefined && this.#objection(id, model) === undefined,
        begin: (spent) => this.#begin(spent),
      },
    });
    const { provider: id = provider.id, model, usage } = reply;
    this.#count({ provider: id, model, asked: reply.asked ?? asked, usage });
    return reply;
  }

  /** One `provider.usage` for each call, oldest first, whatever became of the effect. What is still being said is not waited for. */
  settle(): readonly NodeEvent[] {
    for (const spent of [...this.#open]) this.#end(spent);
    this.#isSettled = true;
    return this.#events;
  }

  #begin(spent: () => SpentCall | undefined): (hasReply: boolean) => void {
    this.#open.add(spent);
    return (hasReply) => {
      if (hasReply) this.#open.delete(spent);
      else this.#end(spent);
    };
  }

  /** Once. Without a count nothing is known of what it used, and nothing is said. */
  #end(spent: () => SpentCall | undefined): void {
    if (!this.#open.delete(spent)) return;
    const call = spent();
    if (call !== undefined && counted(call.usage).totalTokens > 0) this.#count(call);
  }

  #breach(): BudgetBreach | undefined {
    const { budget } = this.#place;
    return budget && reachedLimit(budget, { tokens: this.#tokens, nanoUsd: this.#nanoUsd }, 'run');
  }

  #check(provider: string, model: string | undefined): void {
    const objection = this.#objection(provider, model);
    if (objection !== undefined) throw objection;
  }

  /** Why this model may not be asked, whatever is left of the budget. */
  #objection(provider: string, model: string | undefined): NodeFailure | undefined {
    const { budget } = this.#place;
    if (budget === undefined) return undefined;
    if (!allowsModel(budget, provider, model)) {
      return new NodeFailure(
        POLICY_DENIED,
        'The budget of the run does not allow this model: see configurable.budget.modelAllow and modelDeny.',
        { details: { provider, reason: 'model_not_allowed', field: 'configurable.budget' } },
      );
    }
    if (budget.maxCostUsd === undefined || findPrice(this.#prices, provider, [model]) !== undefined)
      return undefined;
    return new NodeFailure(
      'model_not_priced',
      `The run has a budget in dollars, and no price is known for this model of "${provider}". Import one: weft costs prices import FILE`,
      { details: { provider, field: 'configurable.budget.maxCostUsd' } },
    );
  }

  #count({ provider, model, asked, usage: reported }: SpentCall): void {
    if (this.#isSettled) return;
    const usage = counted(reported);
    const nanoUsd = costOf(usage, findPrice(this.#prices, provider, [model, asked]));
    this.#tokens += usage.totalTokens;
    this.#nanoUsd += nanoUsd ?? 0;
    this.#costs.noteSpent(this.#place.tenant, { tokens: usage.totalTokens, nanoUsd: nanoUsd ?? 0 });
    const { promptTokens, completionTokens, totalTokens, cacheReadTokens, cacheWriteTokens } = usage;
    this.#events.push({
      type: 'provider.usage',
      payload: {
        provider: costName(provider),
        model: costName(model),
        inputTokens: promptTokens,
        outputTokens: completionTokens,
        totalTokens,
        ...(cacheReadTokens !== undefined && { cacheReadTokens }),
        ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
        ...(nanoUsd !== undefined && { costEstimateUsd: fromNanoUsd(nanoUsd), currency: 'USD' }),
        nodeId: this.#place.nodeId,
      },
    });
  }
}

/** A provider may say anything: what cannot be a number of tokens counts as none. */
function counted(usage: Usage): Usage {
  const promptTokens = tokenCount(usage.promptTokens);
  const completionTokens = tokenCount(usage.completionTokens);
  const cacheReadTokens = tokenCount(usage.cacheReadTokens);
  const cacheWriteTokens = tokenCount(usage.cacheWriteTokens);
  return {
    promptTokens,
    completionTokens,
    totalTokens: Math.max(tokenCount(usage.totalTokens), promptTokens + completionTokens),
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}
