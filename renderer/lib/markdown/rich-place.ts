// The place for the tools that render answers, made once for the window and passed down by context. Must not import the tools: they are not
// in the first load.

import { createContext } from 'svelte';
import type { RichText } from './rich-text.ts';

export const [getRichPlace, setRichPlace] = createContext<{ text: RichText | null }>();
