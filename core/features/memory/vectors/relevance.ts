// Decides, for the model that made the vectors, from which similarity two texts are related. Pure.

// Questions and answers on unrelated subjects. They measure how similar a model finds unrelated texts, which varies widely between models.
// Changing these texts changes every floor, so such a change needs a new `referenceName`.

export const referenceName = 'pairs-1';

const referencePairs: readonly (readonly [question: string, answer: string])[] = [
  ['Who looks after the cat while I am away?', 'The neighbour on the second floor feeds the cat during holidays.'],
  ['When is the dentist?', 'The appointment for the teeth is on Tuesday morning at nine.'],
  ['indentation style', 'Source code is indented with two spaces and never with tabs.'],
  ['How do I reset the boiler?', 'Hold the red button of the heating for five seconds to restart it.'],
  ['database backups', 'Every night the tables are dumped and copied to another server.'],
  ['Which flight did we book to Lisbon?', 'The plane to Portugal leaves on the fourth of May at noon.'],
  ['What does Anna eat?', 'Anna is a vegetarian and does not like mushrooms.'],
  ['monthly rent of the flat', 'The landlord gets nine hundred euros on the first of each month.'],
  ['Why did the deployment fail?', 'The release was rolled back because a certificate had expired.'],
  ['piano practice', 'She plays Chopin for half an hour before dinner.'],
  ['How tall is the mountain?', 'The summit lies at three thousand metres above the sea.'],
  ['Which bread do we bake?', 'Our dough of rye and sourdough rests overnight in the kitchen.'],
  ['marathon training plan', 'He runs ten kilometres on weekdays and a longer distance on Sunday.'],
  ['Wie heißt die Lehrerin meines Sohnes?', 'Frau Berger unterrichtet die Klasse 3b an der Grundschule.'],
  ['tax return deadline', 'The declaration of income must reach the office by the end of July.'],
  ['What did the customer complain about?', 'The buyer of the sofa said that one of its legs was broken.'],
];

export interface Near {
  readonly similarity: number;
}

/** The share of unrelated pairs that fall below the floor. */
const UNRELATED_BELOW = 0.95;
/**
 * The maximum share of related pairs that may fall below the floor. A model that hardly distinguishes texts therefore gets a low floor, and
 * full-text search decides.
 */
const RELATED_BELOW = 0.25;
/** Results in this lowest share of the range between the floor and the best result are left out. */
const BELOW_BEST = 1 / 3;

/** The texts embedded to measure the floor: all questions, then all answers. */
export const referenceTexts: readonly string[] = [
  ...referencePairs.map(([question]) => question),
  ...referencePairs.map(([, answer]) => answer),
];

/** Takes the vectors of the reference texts, in their order. */
export function measureFloor(vectors: readonly Float32Array[]): number {
  const count = referencePairs.length;
  const unrelated: number[] = [];
  const related: number[] = [];
  for (const [i, question] of vectors.slice(0, count).entries()) {
    for (const [j, answer] of vectors.slice(count).entries()) (i === j ? related : unrelated).push(cosine(question, answer));
  }
  return Math.min(quantile(unrelated, UNRELATED_BELOW), quantile(related, RELATED_BELOW));
}

/**
 * The nearest results that are related to the question, best first. Empty until the floor is measured, because the nearest result may be
 * unrelated.
 */
export function relevantOf<N extends Near>(nearest: readonly N[], floor: number | null): readonly N[] {
  const [best] = nearest;
  if (floor === null || best === undefined) return [];
  const least = floor + Math.max(0, best.similarity - floor) * BELOW_BEST;
  return nearest.filter(({ similarity }) => similarity >= least);
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  for (const [i, value] of a.entries()) product += value * (b[i] ?? 0);
  const length = Math.hypot(...a) * Math.hypot(...b);
  return length === 0 ? 0 : product / length;
}
