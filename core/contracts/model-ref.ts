// How a model is named, apart from the configuration, so that its parts can name one as well.

import * as z from 'zod';

export const modelRefSchema = z.string().regex(/^[A-Za-z0-9_-]+\/.+$/, 'must be provider/model');
