// Discord as a channel, over a strict double of its API and its gateway.

import { channelConformance } from './conformance.ts';
import { startDiscordBench } from '../doubles/discord/discord-bench.ts';

channelConformance('discord', () => startDiscordBench());
