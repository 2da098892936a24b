// The arguments of the browser tool.

import * as z from 'zod';

export const browserActions = [
  'open',
  'snapshot',
  'click',
  'type',
  'select',
  'press',
  'wait',
  'scroll',
  'tabs',
  'back',
  'upload',
  'download',
  'screenshot',
  'pdf',
  'handover',
  'close',
] as const;
export type BrowserAction = (typeof browserActions)[number];

/** The arguments that each action requires. */
const needed: Partial<Record<BrowserAction, readonly ('url' | 'ref' | 'key' | 'values' | 'path')[]>> = {
  open: ['url'],
  click: ['ref'],
  type: ['ref'],
  select: ['ref', 'values'],
  press: ['key'],
  upload: ['ref', 'path'],
  download: ['ref'],
};

export const browserArgs = z
  .strictObject({
    action: z.enum(browserActions),
    url: z.string().min(1).max(8000).optional().describe('open: the full URL.'),
    ref: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/, 'must be a ref of the latest snapshot, such as e12')
      .optional()
      .describe('Ref of an element in the latest snapshot, such as e12.'),
    text: z
      .string()
      .max(100_000)
      .optional()
      .describe('type: the new content of the field. wait: until this text appears. handover: what the person should do.'),
    secret: z
      .string()
      .regex(/^(?:keychain|env|file):.{1,200}$/, 'must be keychain:NAME, env:NAME or file:PATH')
      .optional()
      .describe('type: reference of a password, instead of text.'),
    submit: z.boolean().optional().describe('type: press Enter afterwards.'),
    key: z.string().min(1).max(40).optional().describe('press: a key such as Enter, Tab, ArrowDown or Control+a.'),
    values: z.array(z.string().max(500)).min(1).max(50).optional().describe('select: labels or values of the options.'),
    path: z.string().min(1).max(4096).optional().describe('upload: the file.'),
    tab: z.string().max(10).optional().describe('tabs: the tab to switch to. close: close only this tab.'),
    direction: z.enum(['up', 'down', 'top', 'bottom']).optional(),
    ms: z.number().int().min(0).max(30_000).optional().describe('wait: the longest time.'),
    gone: z.boolean().optional().describe('wait: until the text disappears.'),
    query: z.string().max(200).optional().describe('snapshot: only the lines that contain all these words.'),
    sends: z
      .boolean()
      .optional()
      .describe(
        'Allow the action to send or change something, and confirm dialogs of the page. The person is asked. Use it when a result says that something was held back.',
      ),
  })
  .superRefine((args, context) => {
    for (const name of needed[args.action] ?? []) {
      if (args[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: `${args.action} needs it` });
    }
    if (args.action === 'type' && (args.text === undefined) === (args.secret === undefined))
      context.addIssue({ code: 'custom', path: ['text'], message: 'type needs either text or secret' });
  });
export type BrowserArgs = z.infer<typeof browserArgs>;
