// Decides whether a command runs inside the sandbox. Pure.

import type { Config } from '../../contracts/config.ts';
import type { SandboxCommand } from './sandbox-command.ts';

export interface SideChoice {
  readonly side: 'inside' | 'outside';
  readonly reason: string;
}

export function chooseSide(
  mode: Config['sandbox']['mode'],
  { attended, reads, bounds }: Pick<SandboxCommand, 'attended' | 'reads' | 'bounds'>,
): SideChoice {
  switch (mode) {
    case 'off':
      return { side: 'outside', reason: 'the sandbox is switched off' };
    case 'required':
      return { side: 'inside', reason: 'every command runs in the sandbox' };
    case 'auto':
      if (bounds?.isDeclared === true) return { side: 'inside', reason: `it runs with what the skill ${bounds.skill} declares` };
      if (attended) return { side: 'outside', reason: 'you approve it exactly as shown' };
      if (reads !== null) return { side: 'outside', reason: `it only ${reads}` };
      return { side: 'inside', reason: 'it runs without your approval' };
  }
}
