// The address of a server that is asked over HTTP.

import * as z from 'zod';

export const webUrlSchema = z.url({ protocol: /^https?$/ });
