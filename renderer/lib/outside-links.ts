// Passes links of the conversation that lead out of the window to the desktop app, with the click. A browser opens them directly, so this
// is not used there.

/** Runs until the returned function is called. `open` receives the address as the page resolved it. */
export function followOutsideLinks(target: Document, open: (url: string) => void): () => void {
  const follow = (event: MouseEvent): void => {
    // A middle click has another event type; the right button opens nothing.
    if (event.defaultPrevented || event.button > 1) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const written = link?.getAttribute('href') ?? '#';
    // The link leads to a place within the window.
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
