// Whether the page has lost the keyboard focus, for views that know where it belongs.

/** True if nothing has the focus, or only a place that lent itself. */
export function hasNoFocus({ activeElement, body }: Document): boolean {
  return activeElement === null || activeElement === body || activeElement.hasAttribute('data-lent');
}
