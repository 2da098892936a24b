// Escape closes the innermost part that was opened on demand and holds the focus, and returns the focus to what opened it. Parts with keys
// that they handle themselves come first.

/** Returns a function that ends it. */
export function closeOpened(page: Document): () => void {
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
