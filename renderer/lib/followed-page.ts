// What the window watches on its page all the time, loaded after the first paint: the keyboard focus, and links to the outside.

import { keepFocus } from './keep-focus.ts';
import { followOutsideLinks } from './outside-links.ts';

/** `openLink` is null in a browser, which opens links itself. Returns a function that ends it. */
export function followPage(page: Document, openLink: ((url: string) => void) | null): () => void {
  const stops = [keepFocus(page), ...(openLink === null ? [] : [followOutsideLinks(page, openLink)])];
  return () => {
    for (const stop of stops) stop();
  };
}
