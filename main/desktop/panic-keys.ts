// The panic stop's global hotkey: registered while the app runs. Tells the person if another program holds it.

import type { GlobalShortcut } from 'electron';
import type { Logger } from '../../core/base/logger.ts';
import type { Finding } from '../../core/contracts/health.ts';

export interface PanicKeysOptions {
  readonly globalShortcut: Pick<GlobalShortcut, 'register' | 'unregister' | 'isRegistered'>;
  /** In Electron's notation: "CommandOrControl+Alt+Shift+Escape". Empty for no hotkey. */
  readonly accelerator: string;
  readonly platform: NodeJS.Platform;
  /** The portal of a Wayland desktop may refuse the keys after it accepted the request, without telling Electron. */
  readonly onWayland: boolean;
  readonly logger: Logger;
  readonly panic: () => void;
}

export type PanicKeysState =
  | { readonly kind: 'held'; readonly shown: string }
  /** Requested, but not confirmed until the first press. */
  | { readonly kind: 'asked'; readonly shown: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly shown: string; readonly why: string };

export class PanicKeys {
  readonly #options: PanicKeysOptions;
  #state: PanicKeysState = { kind: 'none' };

  constructor(options: PanicKeysOptions) {
    this.#options = options;
    if (options.accelerator !== '') this.#state = this.#hold();
  }

  get state(): PanicKeysState {
    return this.#state;
  }

  /** The keys in readable form; null unless they are known to work. */
  get shown(): string | null {
    return this.#state.kind === 'held' ? this.#state.shown : null;
  }

  dispose(): void {
    if (this.#state.kind === 'held' || this.#state.kind === 'asked') this.#options.globalShortcut.unregister(this.#options.accelerator);
    this.#state = { kind: 'none' };
  }

  #hold(): PanicKeysState {
    const { globalShortcut, accelerator, platform, onWayland, logger, panic } = this.#options;
    const shown = readable(accelerator, platform);
    const refuse = (why: string): PanicKeysState => {
      logger.log('warn', 'the keys of the panic stop could not be had', { accelerator, why });
      return { kind: 'refused', shown, why };
    };
    const onPress = (): void => {
      this.#state = { kind: 'held', shown };
      panic();
    };
    try {
      if (!globalShortcut.register(accelerator, onPress)) return refuse(`Another program has the keys ${shown}.`);
      return { kind: onWayland ? 'asked' : 'held', shown };
    } catch {
      // Electron throws if the text is not a key combination.
      return refuse(`"${accelerator}" is not a combination of keys.`);
    }
  }
}

export function isWayland(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): boolean {
  return platform === 'linux' && (env['XDG_SESSION_TYPE'] === 'wayland' || (env['WAYLAND_DISPLAY'] ?? '') !== '');
}

/** For the health check: null if no keys are configured. */
export function panicKeysCheck(state: PanicKeysState): Finding | null {
  switch (state.kind) {
    case 'none':
      return null;
    case 'held':
      return { id: 'panic-keys', ok: true, detail: `${state.shown} stops everything, whichever program is in front.` };
    case 'asked':
      return {
        id: 'panic-keys',
        ok: true,
        detail: `${state.shown} was asked of the desktop, and Wayland does not say whether it was granted. Press it once to be sure: it stops everything, and you release it in the window.`,
      };
    case 'refused':
      return {
        id: 'panic-keys',
        ok: false,
        detail: state.why,
        fix: 'Set other keys as desktop.panicKeys in config.yaml, then start TrayClaw again.',
      };
  }
}

const macSigns: Readonly<Record<string, string>> = { CommandOrControl: '⌘', Command: '⌘', Control: '⌃', Alt: '⌥', Option: '⌥', Shift: '⇧' };
const otherNames: Readonly<Record<string, string>> = {
  CommandOrControl: 'Ctrl',
  Control: 'Ctrl',
  Option: 'Alt',
  Super: 'Win',
  Escape: 'Esc',
};

export function readable(accelerator: string, platform: NodeJS.Platform): string {
  const keys = accelerator.split('+');
  if (platform === 'darwin') return keys.map((key) => macSigns[key] ?? (key === 'Escape' ? 'Esc' : key)).join('');
  return keys.map((key) => otherNames[key] ?? key).join('+');
}
