import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Everything of others that is in the page, with the text of its license: made from what was bundled, so that nothing is forgotten. */
export function thirdPartyNotices(): Plugin {
  return {
    name: 'third-party-notices',
    generateBundle() {
      const folders = new Set([...this.getModuleIds()].flatMap((id) => packageFolder(id) ?? []));
      const notices = [...folders].map(noticeOf).toSorted();
      this.emitFile({
        type: 'asset',
        fileName: 'THIRD-PARTY-NOTICES.txt',
        source: `The page of Weft contains parts of these packages, unchanged but for being bundled.\n\n${notices.join('\n')}`,
      });
    },
  };
}

/** `…/node_modules/@xyflow/react` of the path of a module in it. */
function packageFolder(id: string): string | undefined {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.split('?')[0] ?? '')?.[1];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: string | { readonly url?: string };
}

function noticeOf(folder: string): string {
  const { name, version, license, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  if (license === undefined) throw new Error(`${name} does not say under which license it is.`);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const source = typeof repository === 'string' ? repository : repository?.url;
  return [
    '='.repeat(80),
    `${name} ${version}, license: ${license}`,
    `source: ${source ?? `https://www.npmjs.com/package/${name}/v/${version}`}`,
    '',
    file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim(),
    '',
  ].join('\n');
}

const SMALLEST = 1_024;

/** Each file also as a host sends it: packed once here, and not by every host at every start. */
export function packedFiles(): Plugin {
  return {
    name: 'packed-files',
    // After all others have had their say about the files.
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const [name, file] of Object.entries(bundle)) {
          const content = Buffer.from(file.type === 'chunk' ? file.code : file.source);
          if (content.length < SMALLEST) continue;
          const br = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
          this.emitFile({ type: 'asset', fileName: `${name}.br`, source: br });
          this.emitFile({ type: 'asset', fileName: `${name}.gz`, source: gzipSync(content, { level: 9 }) });
        }
      },
    },
  };
}
