import { expect, test } from 'vitest';
import { opTable } from '../../core/contracts/ops.ts';
import { adviceOf, advisedPlaces } from './advice.ts';

test('a command at the end of the advice becomes a place in the window', () => {
  expect(adviceOf('Set one up: trayclaw setup')).toEqual({ text: 'Set one up.', place: ['settings', 'models'] });
  expect(adviceOf('See all settings with: trayclaw config schema')).toEqual({ text: 'See all settings.', place: ['settings'] });
  expect(adviceOf('Look at it, or continue with the log: trayclaw audit accept')).toMatchObject({ place: ['health'] });
  expect(adviceOf('See: trayclaw work show wrk_1')).toEqual({ text: '', place: ['running', 'tasks'] });
  expect(adviceOf('Set it up with: trayclaw setup, or choose one of: trayclaw models')).toMatchObject({ place: ['settings', 'models'] });
});

test('a command inside the advice stays, next to its place', () => {
  const hint = 'Set it with: trayclaw secret set NAME, or export the named environment variable.';
  expect(adviceOf(hint)).toEqual({ text: hint, place: ['settings', 'secrets'] });
  const run = 'Run trayclaw secret unlock, or start it with a passphrase.';
  expect(adviceOf(run)).toEqual({ text: run, place: ['settings', 'secrets'] });
});

test('advice without a command, or with one that only the terminal has, is left as it is', () => {
  for (const hint of ['Free some disk space.', 'Release it with: trayclaw panic --release', 'See: trayclaw constructor'])
    expect(adviceOf(hint)).toEqual({ text: hint, place: null });
  const both = 'Make a backup (trayclaw backup create), then release it: trayclaw panic --release';
  expect(adviceOf(both)).toEqual({ text: both, place: null });
});

test('every advised word is the first word of a command', () => {
  const commands = Object.values(opTable).flatMap((op) => ('commands' in op ? Object.keys(op.commands) : []));
  const words = new Set([...commands.map((command) => command.split(' ', 1)[0]), 'setup', 'doctor']);
  expect(Object.keys(advisedPlaces).filter((word) => !words.has(word))).toEqual([]);
});
