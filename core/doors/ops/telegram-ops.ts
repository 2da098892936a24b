// Operations on the Telegram bot. The door itself answers; this only leads there.

import type { telegramOps } from '../../contracts/telegram-ops.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { OpsDeps } from './deps.ts';

type TelegramOps = Pick<OpHandlers, keyof typeof telegramOps>;

export function createTelegramOps(deps: OpsDeps): TelegramOps {
  return {
    'telegram.status': (params, caller) => deps.telegram['telegram.status'](params, caller),
    'telegram.pair': (params, caller) => deps.telegram['telegram.pair'](params, caller),
    'telegram.list': (params, caller) => deps.telegram['telegram.list'](params, caller),
    'telegram.confirm': (params, caller) => deps.telegram['telegram.confirm'](params, caller),
    'telegram.refuse': (params, caller) => deps.telegram['telegram.refuse'](params, caller),
    'telegram.revoke': (params, caller) => deps.telegram['telegram.revoke'](params, caller),
    'telegram.pause': (params, caller) => deps.telegram['telegram.pause'](params, caller),
    'telegram.resume': (params, caller) => deps.telegram['telegram.resume'](params, caller),
  };
}
