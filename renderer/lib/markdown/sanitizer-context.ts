// One sanitizer for the whole window, handed down by context.

import { createContext } from 'svelte';
import type { BlockSanitizer } from './sanitize.ts';

export const [getSanitizer, setSanitizer] = createContext<BlockSanitizer>();
