// Telegram as a channel, over the double of the Bot API.

import { channelConformance } from './conformance.ts';
import { startTelegramBench } from '../doubles/telegram/telegram-bench.ts';

channelConformance('telegram', startTelegramBench);
