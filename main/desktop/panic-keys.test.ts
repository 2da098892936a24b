// The panic hotkey: registered, taken by another program, not configured, unregistered.

import { expect, test } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { isWayland, PanicKeys, panicKeysCheck, readable } from './panic-keys.ts';

const accelerator = 'CommandOrControl+Alt+Shift+Escape';

function rig(register: (keys: string) => boolean = () => true, keys = accelerator, onWayland = false) {
  const held = new Map<string, () => void>();
  const logger = new RecordingLogger();
  let presses = 0;
  const panicKeys = new PanicKeys({
    globalShortcut: {
      register: (name, press) => {
        const isTaken = register(name);
        if (isTaken) held.set(name, press);
        return isTaken;
      },
      unregister: (name) => void held.delete(name),
      isRegistered: (name) => held.has(name),
    },
    accelerator: keys,
    platform: 'linux',
    onWayland,
    logger,
    panic: () => (presses += 1),
  });
  return { panicKeys, held, logger, presses: () => presses };
}

test('registered keys stop everything, are shown in readable form, are unregistered', () => {
  const { panicKeys, held, logger, presses } = rig();
  held.set('Control+A', () => undefined);
  held.get(accelerator)?.();
  expect([presses(), panicKeys.shown, logger.lines]).toEqual([1, 'Ctrl+Alt+Shift+Esc', []]);
  expect(panicKeysCheck(panicKeys.state)).toEqual({
    id: 'panic-keys',
    ok: true,
    detail: 'Ctrl+Alt+Shift+Esc stops everything, whichever program is in front.',
  });
  panicKeys.dispose();
  expect([[...held.keys()], panicKeys.shown]).toEqual([['Control+A'], null]);
});

test('on Wayland keys are only requested until they were pressed once', () => {
  const { panicKeys, held, presses } = rig(() => true, accelerator, true);
  expect([panicKeys.state.kind, panicKeys.shown]).toEqual(['asked', null]);
  expect(panicKeysCheck(panicKeys.state)?.detail).toContain('Wayland does not say whether it was granted. Press it once to be sure');
  held.get(accelerator)?.();
  expect([presses(), panicKeys.state.kind, panicKeys.shown]).toEqual([1, 'held', 'Ctrl+Alt+Shift+Esc']);
  panicKeys.dispose();
  expect(held.size).toBe(0);
});

test.each([
  ['linux', { XDG_SESSION_TYPE: 'wayland' }, true],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
  ['linux', { XDG_SESSION_TYPE: 'x11', WAYLAND_DISPLAY: '' }, false],
  ['darwin', { XDG_SESSION_TYPE: 'wayland' }, false],
] as const)('%s with %j: Wayland %j', (platform, env, expected) => {
  expect(isWayland(platform, env)).toBe(expected);
});

test('reports keys that another program holds, and does not unregister them', () => {
  const { panicKeys, held, logger } = rig(() => false);
  held.set(accelerator, () => undefined);
  expect([panicKeys.shown, panicKeysCheck(panicKeys.state), logger.lines]).toEqual([
    null,
    {
      id: 'panic-keys',
      ok: false,
      detail: 'Another program has the keys Ctrl+Alt+Shift+Esc.',
      fix: 'Set other keys as desktop.panicKeys in config.yaml, then start TrayClaw again.',
    },
    ['warn: the keys of the panic stop could not be had'],
  ]);
  panicKeys.dispose();
  expect(held.has(accelerator)).toBe(true);
});

test('rejects a text that is not a key combination, in plain language', () => {
  const { panicKeys } = rig(() => {
    throw new TypeError('conversion failure');
  }, 'Hyper+Nothing');
  expect(panicKeys.state).toEqual({ kind: 'refused', shown: 'Hyper+Nothing', why: '"Hyper+Nothing" is not a combination of keys.' });
});

test('an empty setting is not a problem', () => {
  const { panicKeys, held } = rig(() => true, '');
  expect([panicKeys.state, panicKeysCheck(panicKeys.state), held.size]).toEqual([{ kind: 'none' }, null, 0]);
});

test('shows keys as the platform writes them', () => {
  expect([readable(accelerator, 'darwin'), readable('Command+Option+P', 'darwin'), readable('Super+Control+F12', 'win32')]).toEqual([
    '⌘⌥⇧Esc',
    '⌘⌥P',
    'Win+Ctrl+F12',
  ]);
});
