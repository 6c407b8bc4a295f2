/** The numbered invariants are those of the contracts' digest, section 12. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../check/check.ts';
import { evidenceFromFiles } from '../from-files.ts';
import { plainParts, plainText, type PlainSurface } from '../testing/plain-projector.ts';
import { DECLARED, runFiles, type RunParts, sdkLine } from '../testing/runs.ts';
import { canonicalPath } from './canonical-path.ts';
import { cross } from './cross.ts';
import type { Declared } from './declared.ts';
import { diff } from './diff.ts';
import { renderDiff } from './render.ts';
import { CATEGORIES } from './vocabulary.ts';

const letters = fc.constantFrom(
  'a',
  'b',
  '/',
  'z',
  'é',
  '\u007f',
  '\u2028',
  '\ud800',
  '\udc00',
  '\ue000',
  '\uffee',
  '😀',
  '"',
  '\\',
  '\n',
  '<work>/',
);
const word = fc.array(letters, { maxLength: 6 }).map((parts) => parts.join(''));
const prefix = word.map((inner) => `/${inner}/`);
const path = (own: string) =>
  fc.tuple(fc.constantFrom('', own, own.slice(0, -1), '/', '<work>/'), word).map((parts) => parts.join(''));

function surface(own: string) {
  const values = fc.array(word, { maxLength: 12 });
  return fc.record({
    filesystem_paths: fc.array(path(own), { maxLength: 30 }),
    network_endpoints: values,
    process_execs: values,
    mcp_tools: values,
    policy_decisions: values,
  });
}

const pair = fc
  .tuple(prefix, prefix)
  .chain(([base, head]) =>
    fc.record({ prefixes: fc.constant([base, head] as const), base: surface(base), head: surface(head) }),
  );

function projectCross(base: RunParts, head: RunParts, declared: Declared): string {
  return renderDiff(
    cross(
      evidenceFromFiles(runFiles(base), { workDirPrefix: declared.basePrefix }),
      evidenceFromFiles(runFiles(head), { workDirPrefix: declared.headPrefix }),
      declared,
    ).diff,
  );
}

function withPrefixes([basePrefix, headPrefix]: readonly [string, string]): Declared {
  return { ...DECLARED, basePrefix, headPrefix };
}

interface Document {
  readonly [key: string]: unknown;
  readonly surface: PlainDocumentSurface;
}
type PlainDocumentSurface = Record<string, Record<'added' | 'removed' | 'unchanged', string[]>>;

function parse(text: string): Document {
  return JSON.parse(text) as Document;
}

describe('the cross-runtime projection', () => {
  it('equals the plain projection, and the three parts make up both sides (1, 2, 10, 11, 12, 15)', () => {
    fc.assert(
      fc.property(pair, ({ prefixes, base, head }) => {
        const text = projectCross({ surface: base }, { surface: head }, withPrefixes(prefixes));

        const document = parse(text);
        expect(document.surface).toEqual(plainParts(base, head, prefixes));
        expect(text).toBe(plainText(document));
        expect(document['status']).toBe('clean');
        expect(check(new TextEncoder().encode(text)).problems).toEqual([]);
        expect(Object.keys(document)).not.toContain('base_work_dir_prefix');
      }),
    );
  });

  it('exchanges its parts when the sides are exchanged (3)', () => {
    fc.assert(
      fc.property(pair, ({ prefixes, base, head }) => {
        const forward = parse(projectCross({ surface: base }, { surface: head }, withPrefixes(prefixes)));
        const declared = {
          ...withPrefixes([prefixes[1], prefixes[0]]),
          baseRuntime: DECLARED.headRuntime,
          headRuntime: DECLARED.baseRuntime,
        };
        const backward = parse(projectCross({ surface: head }, { surface: base }, declared));

        for (const category of CATEGORIES) {
          const [ahead, back] = [forward.surface[category]!, backward.surface[category]!];
          expect(back).toEqual({ added: ahead.removed, removed: ahead.added, unchanged: ahead.unchanged });
        }
      }),
    );
  });

  it('canonicalizes once and for all (4)', () => {
    fc.assert(
      fc.property(
        prefix.chain((own) => fc.tuple(fc.constant(own), path(own))),
        ([own, value]) => {
          const once = canonicalPath(value, own);

          expect(canonicalPath(once, own)).toBe(once);
        },
      ),
    );
  });

  it('does not see where the work dir was (5)', () => {
    fc.assert(
      fc.property(fc.array(word), fc.array(word), prefix, prefix, (base, head, here, there) => {
        const at = (own: string): [RunParts, RunParts] => [
          { surface: { filesystem_paths: base.map((rest) => own + rest) } },
          { surface: { filesystem_paths: head.map((rest) => own + rest) } },
        ];

        expect(projectCross(...at(here), withPrefixes([here, here]))).toBe(
          projectCross(...at(there), withPrefixes([there, there])),
        );
      }),
    );
  });

  it('does not see order, repetition or white space (6)', () => {
    fc.assert(
      fc.property(pair, ({ prefixes, base, head }) => {
        const shuffled: PlainSurface = Object.fromEntries(
          Object.entries(base).map(([category, values]) => [category, [...values, ...values].reverse()]),
        );
        const declared = withPrefixes(prefixes);
        const pretty = Object.fromEntries(
          Object.entries(runFiles({ surface: shuffled })).map(([name, text]) => [
            name,
            name.endsWith('.json')
              ? `\n${JSON.stringify(JSON.parse(text), null, '\t')} \r\n`
              : `\n \r\n${text}\n`,
          ]),
        );

        const found = cross(
          evidenceFromFiles(pretty, { workDirPrefix: declared.basePrefix }),
          evidenceFromFiles(runFiles({ surface: head }), { workDirPrefix: declared.headPrefix }),
          declared,
        ).diff;

        expect(renderDiff(found)).toBe(projectCross({ surface: base }, { surface: head }, declared));
      }),
    );
  });

  it('does not see call ids, decisions, windows, notes or unknown fields (7)', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }),
        fc.jsonValue(),
        (ids, extra) => {
          const changed: RunParts = {
            health: { notes: extra, x_extra: extra },
            surface: { x_extra: extra },
            correlation: {
              bindings: ids.map((id) => ({ tool_call_id: id, policy_decision: extra, window: extra })),
              x_extra: extra,
            },
          };

          expect(projectCross(changed, changed, DECLARED)).toBe(projectCross({}, {}, DECLARED));
        },
      ),
    );
  });

  it('shows SDK words in sdk_metadata and nowhere else, even when a value equals them (8)', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (name, version) => {
        const values = { surface: { process_execs: [name, version] } };
        const plain = parse(projectCross(values, values, DECLARED));
        const named = parse(
          projectCross(
            { ...values, sdk: sdkLine({ sdk_name: name, sdk_version: version }) },
            values,
            DECLARED,
          ),
        );

        expect({ ...named, sdk_metadata: plain['sdk_metadata'] }).toEqual(plain);
        expect(named['sdk_metadata']).toMatchObject({ base: { sdk_name: name, sdk_version: version } });
      }),
    );
  });

  it('is never clean on degraded evidence (9)', () => {
    const spoiled: RunParts[] = [
      ...['kernel_layer', 'policy_layer', 'sdk_layer', 'cgroup_correlation'].flatMap((field) =>
        ['absent', 'partial', '', null, 0, true].map((value) => ({ health: { [field]: value } })),
      ),
      ...[1, -1, false, '0', null, 0.5, [], {}].map((ringbuf_drops) => ({ health: { ringbuf_drops } })),
      ...['partial', 'failed', null].map((status) => ({ correlation: { status } })),
      ...[['x'], null, 'none', {}].map((ambiguities) => ({ correlation: { ambiguities } })),
      { correlation: { bindings: [] } },
    ];
    for (const parts of spoiled) {
      expect(parse(projectCross(parts, {}, DECLARED))['status']).not.toBe('clean');
      expect(parse(projectCross({}, parts, DECLARED))['status']).not.toBe('clean');
    }
  });
});

describe('the capability projection', () => {
  it('equals the plain projection', () => {
    fc.assert(
      fc.property(surface('/w/'), surface('/w/'), (base, head) => {
        const shared = { ...head, policy_decisions: base.policy_decisions };
        const text = renderDiff(
          diff(
            evidenceFromFiles(runFiles({ surface: base })),
            evidenceFromFiles(runFiles({ surface: shared })),
          ).diff,
        );

        expect(parse(text).surface).toEqual(plainParts(base, shared));
        expect(check(new TextEncoder().encode(text)).problems).toEqual([]);
      }),
    );
  });

  it('finds nothing between a run and itself, and says so (14)', () => {
    fc.assert(
      fc.property(surface('/w/'), (values) => {
        const run = evidenceFromFiles(runFiles({ surface: values }));

        const found = parse(renderDiff(diff(run, run).diff));

        expect(found['status']).toBe('clean');
        expect(found['notes']).toEqual([
          'capability_diff_idempotent: base and head evidence sets are identical',
        ]);
        expect(found.surface).toEqual(plainParts(values, values));
      }),
    );
  });
});
