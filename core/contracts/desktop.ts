// The messages from the window to the desktop shell. The shell validates every one of them, because the window is not trusted.

import * as z from 'zod';

export const opMessageSchema = z.strictObject({ name: z.string().max(100), params: z.unknown() });
export const followMessageSchema = z.strictObject({
  followId: z.number().int().min(1).max(1_000_000_000),
  after: z.union([z.number().int().min(0), z.literal('latest')]),
});
export const unfollowMessageSchema = followMessageSchema.pick({ followId: true });
export const readyMessageSchema = z.strictObject({});
export const loginStartMessageSchema = z.strictObject({ isOn: z.boolean() });
export const openLinkMessageSchema = z.strictObject({ url: z.string().max(2_000) });
