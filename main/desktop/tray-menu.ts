// The texts of the tray: its menu, its tooltip, and the title of the window. Pure, so that tests can check every state.

import { counted } from '../../core/base/counted.ts';
import type { MenuItemConstructorOptions } from 'electron';
import { activityOf, type DesktopStatus, type Pausable } from './desktop-status.ts';

export interface TrayActions {
  readonly open: () => void;
  readonly showApproval: (approvalId: string) => void;
  readonly showApprovals: () => void;
  readonly panic: () => void;
  readonly releasePanic: () => void;
  readonly setPaused: (id: string, isPaused: boolean) => void;
  readonly setLoginStart: (enabled: boolean) => void;
  readonly quit: () => void;
}

export interface TrayMenuFacts {
  readonly status: DesktopStatus;
  readonly panicKeys: string | null;
  readonly pausables: readonly Pausable[];
  /** Null if starting at login is not supported on this system. */
  readonly startsAtLogin: boolean | null;
}

/** Approvals beyond this number are counted, not listed. */
const NAMED_MAX = 8;
const LABEL_LENGTH_MAX = 64;

export function trayMenu(
  { status, panicKeys, pausables, startsAtLogin }: TrayMenuFacts,
  actions: TrayActions,
): MenuItemConstructorOptions[] {
  return [
    { id: 'open', label: 'Open TrayClaw', click: () => actions.open() },
    { type: 'separator' },
    ...approvalItems(status, actions),
    { type: 'separator' },
    panicItem(status, panicKeys, actions),
    ...pausables.map(({ id, name, isPaused }): MenuItemConstructorOptions => ({
      id: `pause:${id}`,
      label: `${isPaused ? 'Resume' : 'Pause'} ${menuText(name)}`,
      click: () => actions.setPaused(id, !isPaused),
    })),
    { type: 'separator' },
    ...(status.panic.engaged ? releaseItems(actions) : []),
    ...(startsAtLogin === null
      ? []
      : [
          {
            id: 'login-start',
            label: 'Start at login',
            type: 'checkbox' as const,
            checked: startsAtLogin,
            click: (item: { checked: boolean }) => actions.setLoginStart(item.checked),
          },
        ]),
    { id: 'quit', label: 'Quit TrayClaw', click: () => actions.quit() },
  ];
}

function approvalItems({ approvals, panic }: DesktopStatus, actions: TrayActions): MenuItemConstructorOptions[] {
  if (approvals.length === 0) return [{ id: 'no-approvals', label: 'Nothing is waiting for you', enabled: false }];
  const named = approvals.slice(0, NAMED_MAX).map((approval): MenuItemConstructorOptions => ({
    id: `approval:${approval.approvalId}`,
    label: menuText(approval.summary),
    enabled: !panic.engaged,
    click: () => actions.showApproval(approval.approvalId),
  }));
  const heading: MenuItemConstructorOptions = {
    id: 'approvals',
    label: `${counted(approvals.length, 'approval is', 'approvals are')} waiting for you`,
    click: () => actions.showApprovals(),
  };
  return [heading, ...named];
}

function panicItem({ panic }: DesktopStatus, panicKeys: string | null, actions: TrayActions): MenuItemConstructorOptions {
  if (panic.engaged) return { id: 'panic', label: 'Stopped', enabled: false };
  return { id: 'panic', label: panicKeys === null ? 'Panic stop' : `Panic stop (${panicKeys})`, click: () => actions.panic() };
}

/** A separate group, never at the position of the stop entry, so that a second click there does not release the stop. */
function releaseItems(actions: TrayActions): MenuItemConstructorOptions[] {
  return [{ id: 'release-panic', label: 'Release panic stop', click: () => actions.releasePanic() }, { type: 'separator' }];
}

export function trayTooltip(status: DesktopStatus): string {
  const { approvals, runningTurns } = status;
  switch (activityOf(status)) {
    case 'stopped':
      return 'TrayClaw: everything is stopped';
    case 'waiting':
      return approvals.length === 1
        ? 'TrayClaw: 1 approval is waiting for you'
        : `TrayClaw: ${approvals.length} approvals are waiting for you`;
    case 'working':
      return runningTurns === 1 ? 'TrayClaw: working' : `TrayClaw: working on ${runningTurns} things`;
    case 'idle':
      return 'TrayClaw';
  }
}

export function windowTitle(status: DesktopStatus): string {
  if (status.panic.engaged) return 'Stopped · TrayClaw';
  return status.approvals.length === 0 ? 'TrayClaw' : `(${status.approvals.length}) TrayClaw`;
}

/** Reduces a text to one line of ordinary characters: a menu reads & as a shortcut and omits characters it cannot draw. */
function menuText(text: string): string {
  const line = [...text.replace(/[\p{C}\s]+/gu, ' ').trim()];
  const cut = line.length <= LABEL_LENGTH_MAX ? line : [...line.slice(0, LABEL_LENGTH_MAX - 1), '…'];
  return cut.join('').replaceAll('&', '&&');
}
