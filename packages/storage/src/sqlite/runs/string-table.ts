import type { Database, SqlWord } from '../file/driver.ts';

/** Beyond these, strings are stored where they stand: strings that hardly repeat must not fill the memory. */
const ROOM = 65_536;
const LONGEST = 1_024;

/** The dictionary of strings that repeat, mirrored in memory. */
export interface StringTable {
  /** The number of a word that rows are looked up by; always in the dictionary. Only inside a transaction. */
  numberOf(word: string): number;
  /** The number of a word, or the word itself when the dictionary has no room for it. Only inside a transaction. */
  shorten(word: string): SqlWord;
  find(word: string): number | undefined;
  /** Undefined when the dictionary has lost it: the file is damaged. */
  read(word: SqlWord): string | undefined;
  /** Forgets what was added since the last call, because its transaction is not going to be committed. */
  rollback(): void;
  settle(): void;
}

export function openStringTable(db: Database): StringTable {
  const numbers = new Map<string, number>();
  const strings = new Map<number, string>();
  const insert = db.prepare('INSERT INTO words (word) VALUES (?)');
  let added: string[] = [];

  for (const { id, word } of db
    .prepare<{ id: number; word: string }>('SELECT id, word FROM words')
    .iterate()) {
    numbers.set(word, id);
    strings.set(id, word);
  }

  function add(word: string): number {
    const id = Number(insert.run(word).lastInsertRowid);
    numbers.set(word, id);
    strings.set(id, word);
    added.push(word);
    return id;
  }

  return {
    numberOf: (word) => numbers.get(word) ?? add(word),
    shorten(word) {
      const known = numbers.get(word);
      if (known !== undefined) return known;
      return numbers.size < ROOM && word.length <= LONGEST ? add(word) : word;
    },
    find: (word) => numbers.get(word),
    read: (word) => (typeof word === 'string' ? word : strings.get(word)),
    rollback() {
      for (const word of added) {
        strings.delete(numbers.get(word) ?? -1);
        numbers.delete(word);
      }
      added = [];
    },
    settle() {
      added = [];
    },
  };
}
