import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { Host } from '@weft/engine';
import { readStudioFiles, type StudioFiles } from '@weft/server';
import { studioUrl } from '../connecting/browser.ts';
import { unusable } from '../exit-code.ts';
import { isLoopbackBind } from './settings/loopback.ts';
import type { ServeSettings } from './settings/settings.ts';

export type ServedStudio = StudioFiles | 'not-built';

/** The built web page: of the folder that the operator names, or of the package that comes with this one. Undefined: not wanted. */
export async function findStudio(
  { noStudio, studioDir }: Pick<ServeSettings, 'noStudio' | 'studioDir'>,
  cwd: string,
): Promise<ServedStudio | undefined> {
  if (noStudio) return undefined;
  if (studioDir !== undefined) {
    const folder = resolve(cwd, studioDir);
    const files = await readStudioFiles(folder);
    if (files !== undefined) return files;
    throw unusable(
      'studio_missing',
      `studio-dir: there is no index.html in ${folder}. Build the page first.`,
    );
  }
  // Looked for as a package is, but not through its exports: a page is no module.
  for (const folder of createRequire(import.meta.url).resolve.paths('@weft/studio') ?? []) {
    const files = await readStudioFiles(join(folder, '@weft/studio/dist'));
    if (files !== undefined) return files;
  }
  return 'not-built';
}

type SignsIn = Pick<Host, 'authenticate'> & { readonly sessions: Pick<Host['sessions'], 'createCode'> };

/**
 * The link to the page. On loopback it signs in the first browser that opens it, within a minute: a person who can read what this process prints there
 * can read its key file. Elsewhere, output is often collected by others, and people ask for a link with `weft open`.
 */
export async function studioLink(
  host: SignsIn,
  key: string,
  at: { readonly studio: ServedStudio | undefined; readonly bind: string; readonly url: string },
): Promise<string | undefined> {
  if (at.studio === undefined || at.studio === 'not-built') return undefined;
  if (!isLoopbackBind(at.bind)) return studioUrl(at.url);
  // Where the store does not take a code just now, `weft open` makes one later.
  return studioUrl(at.url, await signInCode(host, key).catch(() => undefined));
}

async function signInCode(host: SignsIn, key: string): Promise<string | undefined> {
  const answer = await host.authenticate(key);
  return answer.state === 'ok' ? (await host.sessions.createCode(answer.caller)).code : undefined;
}
