// The permanent listeners of the page: for the keyboard focus, for Escape, and for links to the outside. Loaded separately, because the
// first paint does not need them. The style for paper comes with them.

import '../kit/print.css';

/** `openLink` is null in a browser, which opens links itself. Returns a function that ends it. */
export function followPage(page: Document, openLink: ((url: string) => void) | null): () => void {
  const stops = [keepFocus(page), closeOpened(page), ...(openLink === null ? [] : [followOutsideLinks(page, openLink)])];
  return () => {
    for (const stop of stops) stop();
  };
}

// Escape closes the innermost part that was opened on demand and holds the focus, and returns the focus to what opened it. Parts with keys
// that they handle themselves come first.

/** Returns a function that ends it. */
function closeOpened(page: Document): () => void {
  const onKeydown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || !(event.target instanceof Element)) return;
    const opener = openerOf(page, event.target);
    if (opener === null) return;
    event.preventDefault();
    opener.click();
    opener.focus();
  };
  page.addEventListener('keydown', onKeydown);
  return () => page.removeEventListener('keydown', onKeydown);
}

function openerOf(page: Document, from: Element): HTMLElement | null {
  const opens = 'button[aria-expanded="true"][aria-controls]';
  if (from.matches(opens)) return from as HTMLElement;
  for (let part: Element | null = from; part !== null; part = part.parentElement) {
    if (part.matches('details[open]')) return part.querySelector('summary');
    const button = part.id === '' ? null : page.querySelector<HTMLElement>(`${opens}[aria-controls="${CSS.escape(part.id)}"]`);
    if (button !== null) return button;
  }
  return null;
}

// Returns the keyboard focus when its element disappears or is disabled: a page without focus makes the next Tab start at the top, and a
// screen reader loses its place. A view that knows a better place moves the focus itself.

/** Places that a screen reader names when they get the focus. */
const places = '[tabindex], [aria-label], [role], article, form, li, main, section';

/** Follows the focus until the returned function is called. */
function keepFocus(page: Document): () => void {
  /** The element that had the focus last, and everything around it; empty once the person has left it. */
  let path: readonly HTMLElement[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isLost = (): boolean => path.length > 0 && (page.activeElement === null || page.activeElement === page.body);
  const onFocus = ({ target }: FocusEvent): void => void (path = target instanceof HTMLElement ? pathOf(target) : []);
  const onPointer = ({ target }: PointerEvent): void => {
    if (target instanceof Node && path[0]?.contains(target) !== true) path = [];
  };

  function restore(): void {
    timer = undefined;
    const [last, ...around] = path;
    if (last === undefined || !isLost()) return;
    // A button that waits for its action gets the focus back when it is enabled again.
    if (isShown(last)) last.focus({ preventScroll: true });
    else around.find((place) => isShown(place) && place.matches(places) && lendFocus(page, place));
  }

  const observer = new MutationObserver(() => {
    if (timer === undefined && isLost()) timer = setTimeout(restore);
  });
  observer.observe(page, { subtree: true, childList: true, attributeFilter: ['disabled', 'hidden', 'inert'] });
  page.addEventListener('focusin', onFocus);
  page.addEventListener('pointerdown', onPointer);
  return () => {
    observer.disconnect();
    clearTimeout(timer);
    page.removeEventListener('focusin', onFocus);
    page.removeEventListener('pointerdown', onPointer);
  };
}

function pathOf(element: HTMLElement): HTMLElement[] {
  const path: HTMLElement[] = [];
  for (let at: HTMLElement | null = element; at !== null && at.tagName !== 'BODY'; at = at.parentElement) path.push(at);
  return path;
}

function isShown(element: HTMLElement): boolean {
  return element.isConnected && element.checkVisibility({ visibilityProperty: true });
}

/** False if it cannot have the focus. The place is marked, and focusable if it was not, until the focus leaves it. */
function lendFocus(page: Document, place: HTMLElement): boolean {
  const lent = place.hasAttribute('tabindex') ? ['data-lent'] : ['data-lent', 'tabindex'];
  const takeBack = (): void => lent.forEach((name) => place.removeAttribute(name));
  for (const name of lent) place.setAttribute(name, '-1');
  place.addEventListener('blur', takeBack, { once: true });
  place.focus({ preventScroll: true });
  if (page.activeElement === place) return true;
  takeBack();
  return false;
}

// Passes links of the conversation that lead out of the window to the desktop app, with the click. A browser opens them directly, so this
// is not used there.

/** Runs until the returned function is called. `open` receives the address as the page resolved it. */
function followOutsideLinks(target: Document, open: (url: string) => void): () => void {
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
