// Long tests have two lengths: one for every test run, and the full one for `npm run soak`, which sets TRAYCLAW_SOAK. A number in
// TRAYCLAW_SOAK is the length itself: `TRAYCLAW_SOAK=200 npm test -- channel-crash` kills two hundred times.

const given = process.env['TRAYCLAW_SOAK'];

export const isSoak = given !== undefined;

export function soak(usual: number, full: number): number {
  if (given === undefined) return usual;
  const asked = Number(given);
  return Number.isInteger(asked) && asked > 1 ? asked : full;
}
