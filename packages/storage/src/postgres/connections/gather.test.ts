import { describe, expect, it } from 'vitest';
import { gather } from './gather.ts';

/** Answers on demand, and records what it was asked. */
function reader() {
  const asked: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const read = (numbers: readonly number[]) =>
    new Promise<number[]>((resolve) => {
      asked.push(numbers);
      answers.push(() => resolve(numbers.map((number) => number * 10)));
    });
  return { asked, read, answer: () => answers.shift()?.() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('gathered reads', () => {
  it('are asked together when they come up in one turn, and each gets its own answer', async () => {
    const { asked, read, answer } = reader();
    const ask = gather(100, read);

    const answered = Promise.all([ask(1), ask(2), ask(1)]);
    await turn();
    answer();

    expect(await answered).toEqual([10, 20, 10]);
    expect(asked).toEqual([[1, 2, 1]]);
  });

  it('are never answered by a statement that was sent before they came up', async () => {
    const { asked, read, answer } = reader();
    const ask = gather(100, read);
    const first = ask(1);
    await turn();

    const second = ask(1);
    await turn();
    answer();
    answer();

    expect(await Promise.all([first, second])).toEqual([10, 10]);
    expect(asked).toEqual([[1], [1]]);
  });

  it('wait for one of two to be answered, and are no more than asked for in one statement', async () => {
    const { asked, read, answer } = reader();
    const ask = gather(2, read);
    const answered = Promise.all([1, 2, 3, 4, 5, 6].map(ask));
    await turn();
    await turn();
    await turn();
    expect(asked).toEqual([
      [1, 2],
      [3, 4],
    ]);

    answer();
    await turn();
    await turn();
    answer();
    answer();

    expect(await answered).toEqual([10, 20, 30, 40, 50, 60]);
    expect(asked.at(-1)).toEqual([5, 6]);
  });

  it('fail together, and the next ones are asked again', async () => {
    let calls = 0;
    const ask = gather<number, number>(100, async (numbers) => {
      calls += 1;
      if (calls === 1) throw new Error('gone');
      return numbers;
    });

    const results = await Promise.allSettled([ask(1), ask(2)]);

    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask(3)).toBe(3);
  });
});
