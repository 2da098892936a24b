// A file that a person attaches to a message, from any channel. Defines only the form; the content is kept as an artifact.

import * as z from 'zod';

/** Either the content of the file, or the path of a file on this computer: absolute, or relative to the folder of the session. */
export const attachmentSchema = z
  .strictObject({
    name: z.string().min(1).max(200).optional(),
    mediaType: z.string().max(200).optional(),
    base64: z.base64().max(100_000_000).optional(),
    path: z.string().min(1).max(4096).optional(),
  })
  .refine((file) => (file.base64 === undefined) !== (file.path === undefined), 'give either base64 or path')
  .refine((file) => file.path !== undefined || file.name !== undefined, 'a file given as base64 needs a name');
export type Attachment = z.infer<typeof attachmentSchema>;
