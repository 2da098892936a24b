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
    url: z.string().min(1).max(8000).optional().describe('open: the whole address.'),
    ref: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/, 'must be a ref of the latest snapshot, such as e12')
      .optional()
      .describe('Of the latest snapshot, such as e12.'),
    text: z
      .string()
      .max(100_000)
      .optional()
      .describe('type: replaces the content. wait: until it shows. handover: what the person should do.'),
    secret: z
      .string()
      .regex(/^(?:keychain|env|file):.{1,200}$/, 'must be keychain:NAME, env:NAME or file:PATH')
      .optional()
      .describe('type: a password by its reference, instead of text.'),
    submit: z.boolean().optional().describe('type: press Enter afterwards.'),
    key: z.string().min(1).max(40).optional().describe('press: such as Enter, Tab, ArrowDown, Control+a.'),
    values: z.array(z.string().max(500)).min(1).max(50).optional().describe('select: labels or values.'),
    path: z.string().min(1).max(4096).optional().describe('upload: a file.'),
    tab: z.string().max(10).optional().describe('tabs: switch to it. close: close it alone.'),
    direction: z.enum(['up', 'down', 'top', 'bottom']).optional(),
    ms: z.number().int().min(0).max(30_000).optional().describe('wait: at most so long.'),
    gone: z.boolean().optional().describe('wait: until the text is gone.'),
    query: z.string().max(200).optional().describe('snapshot: only lines with all these words.'),
    sends: z
      .boolean()
      .optional()
      .describe(
        'The action may send or change something, and questions of the page are answered OK. Asks the person; needed where a result says that something was held back.',
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
