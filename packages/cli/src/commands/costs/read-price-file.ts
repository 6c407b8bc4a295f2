import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isHostError, isJsonObject, type Json, type JsonObject, parseStrictJson } from '@weft/protocol/plain';
import type { ModelPrice, PriceList } from '@weft/sdk';
import { CliError, unusable, usageError } from '../../exit-code.ts';
import { reasonOf } from '../../parsing/key-values.ts';

const MAX_BYTES = 8 * 1024 * 1024;

/** What a file of others does not say of itself. */
export interface GivenByHand {
  readonly name?: string;
  readonly date?: string;
  readonly licence?: string;
  readonly source?: string;
  /** `THEIRS=YOURS`. */
  readonly providers: readonly string[];
}

export interface ReadPrices {
  readonly list: PriceList;
  /** Entries without a price of tokens. */
  readonly skipped: number;
}

/** A list of ours is sent as it is, and the host says what is wrong with it; one of LiteLLM is translated. */
export async function readPriceFile(cwd: string, file: string, given: GivenByHand): Promise<ReadPrices> {
  const document = parse(await read(resolve(cwd, file), file), file);
  if (!isJsonObject(document)) throw notPrices(file);
  if (Object.hasOwn(document, 'models')) {
    if (Object.entries(given).some(([, value]) => typeof value === 'string' || value.length > 0))
      throw usageError(`${file} names itself: leave out --name, --date, --licence, --source and --provider.`);
    return { list: document as JsonObject & PriceList, skipped: 0 };
  }
  return fromLiteLlm(document, file, given);
}

async function read(path: string, file: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw unusable(
        'prices_invalid',
        `${file} is larger than ${MAX_BYTES / 1024 / 1024} MiB, too large for prices.`,
      );
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw unusable('file_unreadable', `${file} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

function parse(text: string, file: string): Json {
  try {
    return parseStrictJson(text);
  } catch (cause) {
    throw isHostError(cause) ? unusable('prices_invalid', `${file}: ${cause.message}`, cause) : cause;
  }
}

function notPrices(file: string): CliError {
  return unusable(
    'prices_invalid',
    `${file} is neither a price list of Weft nor the model_prices_and_context_window.json of LiteLLM.`,
  );
}

function fromLiteLlm(document: JsonObject, file: string, given: GivenByHand): ReadPrices {
  const { name = 'litellm', date, licence, source } = given;
  const named = namedProviders(given.providers);
  const models = new Map<string, ModelPrice>();
  const entries = Object.entries(document).filter(([model]) => model !== 'sample_spec');
  let known = 0;
  for (const [model, entry] of entries) {
    if (!isJsonObject(entry)) throw notPrices(file);
    const { litellm_provider: provider } = entry;
    if (typeof provider !== 'string') continue;
    known += 1;
    const price = priceOf(entry);
    const own = model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model;
    const key = `${named.get(provider) ?? provider}/${own}`;
    if (price !== undefined && KEY.test(key)) models.set(key, price);
  }
  if (known === 0) throw notPrices(file);
  if (date === undefined || licence === undefined) {
    throw usageError(
      `${file} does not say from when it is and under which licence it may be used: give --date and --licence.`,
    );
  }
  if (models.size === 0) throw unusable('prices_invalid', `${file} has no price of tokens.`);
  const about = { name, date, licence, ...(source !== undefined && { source }), currency: 'USD' as const };
  return { list: { ...about, models: Object.fromEntries(models) }, skipped: entries.length - models.size };
}

const KEY = /^[!-.0-~]{1,128}\/[!-~]{1,256}$/;

function namedProviders(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair): [string, string] => {
      const [theirs = '', yours = '', ...rest] = pair.split('=');
      if (theirs === '' || yours === '' || rest.length > 0)
        throw usageError(`--provider takes THEIRS=YOURS, such as gemini=google; not "${pair}".`);
      return [theirs, yours];
    }),
  );
}

/** Undefined where one of the two prices is missing, or finer than we count. */
function priceOf(entry: JsonObject): ModelPrice | undefined {
  const inputPerMillion = perMillion(entry['input_cost_per_token']);
  const outputPerMillion = perMillion(entry['output_cost_per_token']);
  if (inputPerMillion === undefined || outputPerMillion === undefined) return undefined;
  const cacheReadPerMillion = perMillion(entry['cache_read_input_token_cost']);
  const cacheWritePerMillion = perMillion(entry['cache_creation_input_token_cost']);
  return {
    inputPerMillion,
    outputPerMillion,
    ...(cacheReadPerMillion !== undefined && { cacheReadPerMillion }),
    ...(cacheWritePerMillion !== undefined && { cacheWritePerMillion }),
  };
}

const FRACTION_DIGITS = 6;

/** The digits of the number as it was written, with the point six places further: no arithmetic, no rounding. */
export function perMillion(perToken: Json | undefined): string | undefined {
  if (perToken === 0) return '0';
  if (typeof perToken !== 'number' || !(perToken > 0 && perToken <= 1)) return undefined;
  const [mantissa = '0', exponent = '0'] = perToken.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const whole = 1 + Number(exponent) + 6;
  const padded = digits.padEnd(whole, '0').padStart(padding(digits.length, whole), '0');
  const point = Math.max(whole, 1);
  const fraction = padded.slice(point).replace(/0+$/, '');
  if (fraction.length > FRACTION_DIGITS) return undefined;
  return fraction === '' ? padded.slice(0, point) : `${padded.slice(0, point)}.${fraction}`;
}

/** So many digits that at least one stands before the point. */
function padding(length: number, whole: number): number {
  return whole >= 1 ? length : length + 1 - whole;
}
