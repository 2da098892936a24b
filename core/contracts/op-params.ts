// Building blocks of operation parameters.

import * as z from 'zod';
import { naming } from './named-things.ts';

export const id = z.string().min(1).max(100);
/** Those that must exist. */
export const sessionName = naming('session', id);
export const turnName = naming('turn', id);
export const agentName = naming('agent', id);
export const none = z.strictObject({});
/** When a changed setting takes effect. */
export const holdsSchema = z.enum(['now', 'next-start']);
export const messageTextMax = 1_000_000;
/** The help text of options that limit the number of results. */
export const most = 'how many at most';
