// Decides whether a command runs inside the sandbox. Pure.

import type { Config } from '../../contracts/config.ts';
import type { SandboxCommand } from './sandbox-command.ts';

export interface SideChoice {
  readonly side: 'inside' | 'outside';
  readonly reason: string;
}

export function chooseSide(mode: Config['sandbox']['mode'], { attended, reads }: Pick<SandboxCommand, 'attended' | 'reads'>): SideChoice {
  switch (mode) {
    case 'off':
      return { side: 'outside', reason: 'the sandbox is switched off' };
    case 'required':
      return { side: 'inside', reason: 'every command runs in the sandbox' };
    case 'auto':
      if (attended) return { side: 'outside', reason: 'you approve it exactly as shown' };
      if (reads !== null) return { side: 'outside', reason: `it only ${reads}` };
      return { side: 'inside', reason: 'it runs without your approval' };
  }
}
