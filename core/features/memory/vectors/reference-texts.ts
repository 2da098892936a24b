// Questions and answers on unrelated subjects. They measure how similar a model finds unrelated texts, which varies widely between models.
// Changing these texts changes every floor, so such a change needs a new `referenceName`.

export const referenceName = 'pairs-1';

export const referencePairs: readonly (readonly [question: string, answer: string])[] = [
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
