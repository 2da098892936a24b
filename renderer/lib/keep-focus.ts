// Returns the keyboard focus when its element disappears or is disabled: a page without focus makes the next Tab start at the top, and a
// screen reader loses its place. A view that knows a better place moves the focus itself.

/** Places that a screen reader names when they get the focus. */
const places = '[tabindex], [aria-label], [role], article, form, li, main, section';

/** Follows the focus until the returned function is called. */
export function keepFocus(page: Document): () => void {
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
