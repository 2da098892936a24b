// Links of the conversation that lead out of the window, passed to the desktop app with the click. A browser opens them directly, so there
// this is not used.

/** Until the returned function is called. `open` gets the address as the page resolved it. */
export function followOutsideLinks(target: Document, open: (url: string) => void): () => void {
  const follow = (event: MouseEvent): void => {
    // A middle click reports as another kind of click; the right button opens nothing.
    if (event.defaultPrevented || event.button > 1) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const written = link?.getAttribute('href') ?? '#';
    // The window's own places.
    if (link === null || written.startsWith('#')) return;
    event.preventDefault();
    open(link.href);
  };
  target.addEventListener('click', follow);
  target.addEventListener('auxclick', follow);
  return () => {
    target.removeEventListener('click', follow);
    target.removeEventListener('auxclick', follow);
  };
}
