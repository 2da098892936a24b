// The permanent listeners of the page: for the keyboard focus, for Escape, and for links to the outside. Loaded separately, because the
// first paint does not need them.

import { closeOpened } from './close-opened.ts';
import { keepFocus } from './keep-focus.ts';
import { followOutsideLinks } from './outside-links.ts';

/** `openLink` is null in a browser, which opens links itself. Returns a function that ends it. */
export function followPage(page: Document, openLink: ((url: string) => void) | null): () => void {
  const stops = [keepFocus(page), closeOpened(page), ...(openLink === null ? [] : [followOutsideLinks(page, openLink)])];
  return () => {
    for (const stop of stops) stop();
  };
}
