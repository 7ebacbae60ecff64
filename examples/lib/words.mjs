// Sentences as rows of word numbers, as an embedding reads them. This file runs in pages, too; it imports nothing.

/** The number of what fills up short rows, and of words that the vocabulary does not have. */
const [padding, unknown] = [0, 1];

/** The words of a sentence in lower case, of any language that separates them. */
export const wordsOf = (sentence) => sentence.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];

/** The words that occur at least `least` times, the most frequent first, at most `most` of them. */
export function vocabularyOf(sentences, least = 1, most = 20_000) {
  const counts = new Map();
  for (const word of sentences.flatMap(wordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const frequent = [...counts].filter(([, count]) => count >= least);
  return frequent
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([word]) => word);
}

/** How many numbers rows may contain. */
export const wordCount = (vocabulary) => vocabulary.length + 2;

/** A row of `length` numbers per sentence: the last words of long ones, zeros after short ones. */
export function encode(sentences, vocabulary, length) {
  const numbers = new Map(vocabulary.map((word, at) => [word, at + 2]));
  return sentences.map((sentence) => {
    const row = wordsOf(sentence)
      .slice(-length)
      .map((word) => numbers.get(word) ?? unknown);
    return [...row, ...new Array(length - row.length).fill(padding)];
  });
}
