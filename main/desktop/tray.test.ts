// The tray part: what it sets and when, the animation, clicks.

import { EventEmitter } from 'node:events';
import type { Menu, MenuItemConstructorOptions, NativeImage, Tray } from 'electron';
import { expect, test } from 'vitest';
import { approvalOf, statusOf } from '../../tests/rigs/desktop-bench.ts';
import type { TrayActions } from './tray-menu.ts';
import { TrayPart } from './tray.ts';

class FakeTray extends EventEmitter {
  readonly did: string[] = [];
  setImage(image: unknown): void {
    this.did.push(`image ${String(image)}`);
  }
  setToolTip(): void {
    this.did.push('tooltip');
  }
  setContextMenu(menu: unknown): void {
    this.did.push(`menu of ${(menu as { items: unknown[] }).items.length}`);
  }
  destroy(): void {
    this.did.push('destroyed');
  }
}

function rig(platform: NodeJS.Platform = 'linux') {
  const tray = new FakeTray();
  const opened: string[] = [];
  const timers = new Set<{ ms: number; work: () => void }>();
  const nothing = (): void => undefined;
  const actions: TrayActions = {
    open: () => opened.push('open'),
    showApproval: nothing,
    showApprovals: nothing,
    panic: nothing,
    releasePanic: nothing,
    setPaused: nothing,
    setLoginStart: nothing,
    quit: nothing,
  };
  const facts = { panicKeys: null, pausables: [], startsAtLogin: false as boolean };
  const part = new TrayPart(
    {
      create: () => tray as unknown as Tray,
      buildMenu: (items: MenuItemConstructorOptions[]) => ({ items }) as unknown as Menu,
      icons: { of: (activity, count, frame) => `${activity}/${count}/${frame}` as unknown as NativeImage },
      actions,
      platform,
      facts: () => facts,
      every: (ms, work) => {
        const timer = { ms, work };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    statusOf(),
  );
  const take = (): string[] => tray.did.splice(0);
  const tick = (): void => {
    for (const { work } of timers) work();
  };
  return { tray, part, opened, timers, facts, take, tick };
}

test('sets a menu at the start, and does not set an unchanged one again', () => {
  const { part, take, facts } = rig();
  expect(take()).toEqual(['image idle/0/0', 'tooltip', 'menu of 8']);
  part.show(statusOf());
  expect(take()).toEqual(['image idle/0/0', 'tooltip']);
  part.show(statusOf({ approvals: [approvalOf()] }));
  expect(take()).toEqual(['image waiting/1/0', 'tooltip', 'menu of 9']);
  facts.startsAtLogin = true;
  part.refresh();
  expect(take()).toEqual(['image waiting/1/0', 'tooltip', 'menu of 9']);
});

test('animates the icon while work runs, at most twice a second, then stops', () => {
  const { part, take, tick, timers } = rig();
  expect(timers.size).toBe(0);
  part.show(statusOf({ runningTurns: 1 }));
  part.show(statusOf({ runningTurns: 2 }));
  expect([...timers].map(({ ms }) => ms >= 500)).toEqual([true]);
  take();
  for (let i = 0; i < 4; i += 1) tick();
  expect(take()).toEqual(['image working/0/1', 'image working/0/2', 'image working/0/0', 'image working/0/1']);
  part.show(statusOf({ runningTurns: 1, approvals: [approvalOf()] }));
  expect([timers.size, take()[0]]).toEqual([0, 'image waiting/1/0']);
  part.show(statusOf({ runningTurns: 1 }));
  part.dispose();
  expect([timers.size, take().at(-1)]).toEqual([0, 'destroyed']);
});

test.each([
  ['win32', ['open']],
  ['linux', ['open']],
  ['darwin', []],
] as const)('on %s a click opens the window, unless it opens the menu: %j', (platform, expected) => {
  const { tray, opened } = rig(platform);
  tray.emit('click');
  expect(opened).toEqual(expected);
});
