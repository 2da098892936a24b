// Back and forward return to where a page was scrolled. A page is filled after it is opened, so the place is tried until it is there, or until
// the person does something.

const keptMax = 100;
const triesForMs = 3000;
const meant = ['wheel', 'keydown', 'pointerdown', 'touchmove'] as const;

/** `main` contains the page of the current view. Until the returned function is called. */
export function keepScroll(main: HTMLElement): () => void {
  // Older browsers do not say whether a navigation goes back.
  if (!('navigation' in window)) return () => undefined;
  const kept = new Map<string, number>();
  const ending = new AbortController();
  let trying = new AbortController();

  function remember({ target }: Event): void {
    if (!(target instanceof HTMLElement) || !target.matches('main > .page')) return;
    kept.delete(location.hash);
    kept.set(location.hash, target.scrollTop);
    for (const oldest of kept.keys()) if (kept.size > keptMax) kept.delete(oldest);
  }

  function onNavigate({ navigationType, destination }: NavigateEvent): void {
    trying.abort();
    const top = navigationType === 'traverse' ? kept.get(new URL(destination.url).hash) : undefined;
    if (top === undefined) return;
    const own = (trying = new AbortController());
    for (const type of meant) main.addEventListener(type, () => own.abort(), { signal: own.signal, capture: true, passive: true });
    const until = performance.now() + triesForMs;
    const place = (now: number): void => {
      if (own.signal.aborted || ending.signal.aborted || now > until) return own.abort();
      const page = main.querySelector(':scope > .page');
      if (page !== null && page.scrollTop !== top) page.scrollTop = top;
      requestAnimationFrame(place);
    };
    requestAnimationFrame(place);
  }

  main.addEventListener('scroll', remember, { signal: ending.signal, capture: true, passive: true });
  navigation.addEventListener('navigate', onNavigate, { signal: ending.signal });
  return () => ending.abort();
}
