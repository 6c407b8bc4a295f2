import type { Json, JsonObject } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';
import type { Expectations } from '../../suite/expectations.ts';
import type { Answer, RequestOptions } from '../../suite/host-client.ts';

const DISCOVERY_PATH = '/.well-known/openwop';

/** Asks for discovery as anyone may, without a key. */
export function askDiscovery(
  { host }: Pick<CheckContext, 'host'>,
  options: RequestOptions = { key: null },
): Promise<Answer> {
  return host.request('GET', DISCOVERY_PATH, options);
}

/** The document as the host gives it now; checks of blocks look at it and not at what the suite read at its start. */
export async function readDiscovery({
  host,
  expect,
}: Pick<CheckContext, 'host' | 'expect'>): Promise<JsonObject> {
  const answer = await askDiscovery({ host });
  expect.status(answer, 200);
  return expect.object(answer.json, 'discovery is answered with a JSON object');
}

/** A list of texts without an entry twice. */
export function expectDistinctTexts(expect: Expectations, value: Json | undefined, name: string): string[] {
  const texts = expect
    .array(value, `${name} is a list`)
    .map((entry) => expect.string(entry, `every entry of ${name} is a text that is not empty`));
  const repeated = texts.filter((text, index) => texts.indexOf(text) !== index);
  expect.equal(repeated, [], `${name} has each entry once`);
  return texts;
}
