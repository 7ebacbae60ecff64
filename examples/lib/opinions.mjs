// Sentences with an opinion, generated from templates: a stand-in for reviews that people have labeled.
import { Random } from './random.mjs';

const things = 'soup|film|room|phone|book|concert|coffee|train|hotel|bread|museum|game|garden|song|dinner'.split('|'); // prettier-ignore
const people = 'I|we|my sister|our guests|everybody|the children'.split('|');
const praise = 'good|great|wonderful|excellent|lovely|fantastic|nice|perfect|amazing|pleasant|delightful|superb'.split('|'); // prettier-ignore
const blame = 'bad|awful|terrible|horrible|boring|poor|dreadful|disappointing|ugly|nasty|annoying|useless'.split('|'); // prettier-ignore
const likes = 'liked|loved|enjoyed|adored|recommended'.split('|');
const dislikes = 'hated|regretted|disliked|avoided|despised'.split('|');
const facts = [
  'the THING is in the town',
  'PEOPLE saw the THING on monday',
  'the THING and the THING cost the same',
  'there is a THING beside the station',
  'PEOPLE asked where the THING was',
  'the THING was there at ten',
  'PEOPLE talked about the THING and the THING',
];
const degrees = ['', '', '', 'very ', 'really ', 'so ', 'quite ', 'truly '];
const ends = ['', '', '', ' at all', ' in the end', ' this time', ' today'];

/** The labels, in the order of their numbers. */
export const labels = ['negative', 'neutral', 'positive'];

/** `count` sentences and the numbers of their labels, which the seed and the stream decide. */
export function makeOpinions(count, seed, stream = 0) {
  const random = new Random(seed, stream);
  const classes = Array.from({ length: count }, () => Math.floor(3 * random.unit()));
  return { sentences: classes.map((each) => sentenceOf(each, random)), classes };
}

function sentenceOf(label, random) {
  const fill = (text) =>
    text.replace(/THING/g, () => random.pick(things)).replace(/PEOPLE/g, () => random.pick(people));
  if (label === 1) return fill(random.pick(facts));
  const isGood = label === 2;
  const isNegated = random.unit() < 0.35;
  const [adjectives, verbs] = isGood === isNegated ? [blame, dislikes] : [praise, likes];
  const is = random.pick(['was', 'is', 'seemed']);
  const not = isNegated ? 'not ' : '';
  const end = random.pick(ends);
  return fill(
    random.pick([
      () => `the THING ${is} ${not}${random.pick(degrees)}${random.pick(adjectives)}${end}`,
      () => `what a ${isGood ? random.pick(praise) : random.pick(blame)} THING`,
      () => `PEOPLE ${isNegated ? 'never ' : ''}${random.pick(verbs)} the THING${end}`,
      () =>
        `the THING ${is} ${not}${random.pick(adjectives)} and not ${random.pick(isGood ? blame : praise)}`,
      () =>
        `the THING ${is} ${random.pick(isGood ? blame : praise)}, but the THING ${is} ${not}${random.pick(adjectives)}`,
    ])(),
  );
}
