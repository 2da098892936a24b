// Whether keys that are pressed now are text.

/** Returns whether the focused element accepts text. */
export function takesText(element: Element | null): boolean {
  if (element === null) return false;
  if (element instanceof HTMLInputElement) return !/^(?:button|checkbox|radio|range|submit|reset|file|color|image)$/.test(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || (element as HTMLElement).isContentEditable;
}
