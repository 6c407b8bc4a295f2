import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLog } from '../fold/log-checker.ts';
import { node } from '../testing/definitions.ts';
import { logEntries, simulate } from '../testing/simulation.ts';

/** Gates of every size and policy, under every order of votes, changes of mind and crashes between them. */

interface Ballot {
  readonly voter: string;
  readonly action: 'accept' | 'reject';
}

type Result = 'open' | 'accepted' | 'rejected';

const VOTERS = ['ada', 'bob', 'cyd', 'dan', 'eve'];
const gates = fc.record({
  required: fc.integer({ min: 1, max: 4 }),
  policy: fc.constantFrom('single-veto', 'majority'),
});
const ballot = fc.record({
  voter: fc.constantFrom(...VOTERS),
  action: fc.constantFrom<Ballot['action']>('accept', 'accept', 'reject'),
});

function rejectsNeeded({ required, policy }: { required: number; policy: string }): number {
  return policy === 'majority' ? Math.floor(required / 2) + 1 : 1;
}

/** What the protocol says, read once more: the newest vote of each voter counts, the first threshold reached decides. */
function expected(gate: { required: number; policy: string }, ballots: readonly Ballot[]): Result {
  const votes = new Map<string, string>();
  for (const { voter, action } of ballots) {
    votes.set(voter, action);
    const all = [...votes.values()];
    if (all.filter((vote) => vote === 'reject').length >= rejectsNeeded(gate)) return 'rejected';
    if (all.filter((vote) => vote === 'accept').length >= gate.required) return 'accepted';
  }
  return 'open';
}

function held(
  { required, policy }: { required: number; policy: string },
  ballots: readonly Ballot[],
  crashAfter = -1,
): Result {
  const run = simulate({
    nodes: [node('gate', 'core.approvalGate', { requiredApprovals: required, rejectionPolicy: policy })],
  });
  run.start();
  for (const [index, { voter, action }] of ballots.entries()) {
    run.answer('gate', { action, voter });
    if (index === crashAfter) run.crash();
  }
  const { status } = run.run.state;
  expect(checkLog(logEntries(run.log), { terminal: run.run.state.endedAt !== undefined })).toEqual([]);
  if (status === 'completed') return 'accepted';
  return status === 'failed' ? 'rejected' : 'open';
}

describe('a quorum', () => {
  it('is decided by the first threshold that the newest votes reach', () => {
    const results = new Map<Result, number>();
    fc.assert(
      fc.property(gates, fc.array(ballot, { maxLength: 8 }), fc.nat(8), (gate, ballots, crashAfter) => {
        const result = held(gate, ballots, crashAfter);

        expect(result).toBe(expected(gate, ballots));
        results.set(result, (results.get(result) ?? 0) + 1);
      }),
      { numRuns: 300 },
    );
    for (const result of ['open', 'accepted', 'rejected'] as const)
      expect(results.get(result) ?? 0, result).toBeGreaterThan(20);
  });

  it('comes to the same result in any order of votes, where only one threshold can be reached', () => {
    const oneEach = fc.subarray(VOTERS).chain((voters) =>
      fc
        .array(fc.constantFrom<Ballot['action']>('accept', 'reject'), {
          minLength: voters.length,
          maxLength: voters.length,
        })
        .map((actions) => voters.map((voter, index) => ({ voter, action: actions[index] ?? 'accept' }))),
    );
    const shuffled = oneEach.chain((ballots) =>
      fc.tuple(
        fc.constant(ballots),
        fc.shuffledSubarray(ballots, { minLength: ballots.length, maxLength: ballots.length }),
      ),
    );
    fc.assert(
      fc.property(gates, shuffled, (gate, [ballots, otherwise]) => {
        const rejects = ballots.filter(({ action }) => action === 'reject').length;
        fc.pre(rejects < rejectsNeeded(gate) || ballots.length - rejects < gate.required);

        expect(held(gate, otherwise)).toBe(held(gate, ballots));
      }),
      { numRuns: 150 },
    );
  });

  it('does not count a voice twice', () => {
    fc.assert(
      fc.property(
        gates,
        fc.array(ballot, { minLength: 1, maxLength: 6 }),
        fc.nat(),
        (gate, ballots, which) => {
          const again = ballots.flatMap((each, index) =>
            index === which % ballots.length ? [each, each] : [each],
          );

          expect(held(gate, again)).toBe(held(gate, ballots));
        },
      ),
      { numRuns: 100 },
    );
  });
});
