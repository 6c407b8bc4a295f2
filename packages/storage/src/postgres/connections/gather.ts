/** Enough that one slow answer does not block the others, few enough that questions are gathered. */
const MOST_RUNNING = 2;

interface Question<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads of many callers as one statement: a statement costs the client as much as what it brings. Questions wait for the end of
 * the present turn of the event loop, and for a place; those that wait by then are asked together. A question is never answered
 * by a statement that was sent before it came up, so every caller sees what was committed before it asked.
 *
 * `read` answers in the order of the questions.
 */
export function gather<Asked, Answer>(
  most: number,
  read: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
): (asked: Asked) => Promise<Answer> {
  let waiting: Question<Asked, Answer>[] = [];
  let running = 0;
  let isDue = false;

  function askSoon(): void {
    if (isDue || waiting.length === 0 || running === MOST_RUNNING) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      void ask();
    });
  }

  async function ask(): Promise<void> {
    const questions = waiting.slice(0, most);
    waiting = waiting.slice(most);
    running += 1;
    askSoon();
    try {
      const answers = await read(questions.map(({ asked }) => asked));
      for (const [index, question] of questions.entries()) question.resolve(answers[index] as Answer);
    } catch (error) {
      for (const question of questions) question.reject(error);
    } finally {
      running -= 1;
      askSoon();
    }
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      askSoon();
    });
}
