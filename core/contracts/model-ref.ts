// The form of a model reference. Separate from config.ts, so that the parts of the configuration can use it.

import * as z from 'zod';

export const modelRefSchema = z.string().regex(/^[A-Za-z0-9_-]+\/.+$/, 'must be provider/model');
