// The form of a model reference. Separate from config.ts, so that the parts of the configuration can use it.

import * as z from 'zod';
import { naming } from './named-things.ts';

/** Of a model that need not be there. */
export const modelFormSchema = z.string().regex(/^[A-Za-z0-9_-]+\/.+$/, 'must be provider/model');
export const modelRefSchema = naming('model', modelFormSchema);
