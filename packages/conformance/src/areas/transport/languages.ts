import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { readDiscovery } from '../discovery/document.ts';

const MALFORMED = [';;;', 'q=2', 'en;q=', '@@@,***', 'de;q=banana', ','];
const LOCALE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
/** A code that is kept free for private use, so no host speaks it. */
const UNSPOKEN = 'qaa';

export const LANGUAGE_CHECKS: readonly Check[] = [
  {
    id: 'transport/malformed-language',
    title: 'no Accept-Language is an error',
    proves: ['HTTP-8'],
    async run({ host, expect }) {
      for (const language of [...MALFORMED, UNSPOKEN, '*']) {
        const headers = { 'accept-language': language };
        const answer = await host.request('GET', '/.well-known/openwop', { headers });
        expect.that(answer.status === 200, `Accept-Language: ${language} is not an error`, answer.status);
      }
    },
  },
  {
    id: 'transport/codes-in-every-language',
    title: 'codes, names and times are the same in every language',
    proves: ['HTTP-9', 'HTTP-10'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect, unique }) {
      const runId = await runs.endedRun('conformance-noop');
      const id = unique();

      const codes: unknown[] = [];
      const names: string[][] = [];
      for (const language of ['en', 'de-DE,de;q=0.9', 'ar']) {
        const headers = { 'accept-language': language };
        const refusal = await host.request('GET', `/v1/runs/${id}`, { headers });
        codes.push(expect.envelope(refusal, { status: [403, 404] })['error']);
        const answer = await host.request('GET', `/v1/runs/${runId}`, { headers });
        const run = expect.object(answer.json, 'a run is answered with an object');
        names.push(Object.keys(run).sort());
        expectIsoTimes({ expect }, run);
      }
      expect.equal(codes, Array(3).fill(codes[0]), 'the code of an error is the same in every language');
      expect.equal(names, Array(3).fill(names[0]), 'the members of a run are the same in every language');
    },
  },
  {
    id: 'transport/locales',
    title: 'the locales of a host are well-formed, and the default is among them',
    proves: ['HTTP-11'],
    async run(context) {
      const { expect } = context;
      const { locales, defaultLocale } = localesOf(context, await readDiscovery(context));

      for (const locale of locales)
        expect.that(LOCALE.test(locale), 'every supported locale is a language tag', locale);
      expect.that(
        locales.includes(defaultLocale),
        'supportedLocales has the default locale',
        locales,
        defaultLocale,
      );
    },
  },
  {
    id: 'transport/content-language',
    title: 'an answer is in the language that was negotiated',
    proves: ['HTTP-12', 'HTTP-13'],
    async run(context) {
      const { discovery, host, expect, unique } = context;
      const { locales, defaultLocale } = localesOf(context, discovery);

      for (const [asked, expected] of negotiations(locales, defaultLocale)) {
        const answer = await host.request('GET', `/v1/runs/${unique()}`, {
          headers: { 'accept-language': asked },
        });
        expect.envelope(answer, { status: [403, 404] });
        const used = answer.headers.get('content-language');
        if (used !== null)
          expect.equal(
            used.toLowerCase(),
            expected.toLowerCase(),
            `Accept-Language: ${asked} is answered in ${expected}`,
          );
      }
    },
  },
];

/** What is asked for, and the locale that is used for it. */
function negotiations(locales: readonly string[], defaultLocale: string): (readonly [string, string])[] {
  const other = locales.find((locale) => locale !== defaultLocale) ?? defaultLocale;
  const family = locales.find((locale) => !locale.includes('-'));
  return [
    ...locales.slice(0, 5).map((locale) => [locale, locale] as const),
    [UNSPOKEN, defaultLocale],
    [`${UNSPOKEN}, ${other};q=0.5`, other],
    [`${defaultLocale};q=0.1, ${other};q=0.9`, other],
    ...(family === undefined ? [] : [[`${family}-ZZ`, family] as const]),
  ];
}

function localesOf({ expect }: Pick<CheckContext, 'expect'>, discovery: JsonObject) {
  const list = advertised(discovery, 'i18n.supportedLocales');
  const locales = expect
    .array(list, 'i18n.supportedLocales is a list')
    .map((locale) => expect.string(locale, 'a supported locale is a text'));
  expect.that(locales.length > 0, 'i18n.supportedLocales is not empty', locales);
  const given = advertised(discovery, 'i18n.defaultLocale') ?? 'en';
  return { locales, defaultLocale: expect.string(given, 'i18n.defaultLocale is a text') };
}

function expectIsoTimes({ expect }: Pick<CheckContext, 'expect'>, run: JsonObject): void {
  for (const name of ['startedAt', 'completedAt']) {
    const time = run[name];
    if (time === undefined) continue;
    const text = expect.string(time, `${name} is a text`);
    expect.that(ISO_TIME.test(text), `${name} is written as ISO 8601 says`, text);
  }
}
