// A selection in a text that is rendered again while it streams: kept as distances from the beginning of the text.

export interface KeptSelection {
  readonly anchor: number;
  readonly focus: number;
}

/** Null unless the whole selection is in the element. */
export function takeSelection(element: Element): KeptSelection | null {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed) return null;
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  if (!element.contains(anchorNode) || !element.contains(focusNode)) return null;
  return { anchor: distance(element, anchorNode, anchorOffset), focus: distance(element, focusNode, focusOffset) };
}

export function restoreSelection(element: Element, { anchor, focus }: KeptSelection): void {
  const [from, to] = [pointAt(element, anchor), pointAt(element, focus)];
  if (from !== null && to !== null) getSelection()?.setBaseAndExtent(from.node, from.offset, to.node, to.offset);
}

function distance(element: Element, node: Node | null, offset: number): number {
  if (node === null) return 0;
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

function pointAt(element: Element, wanted: number): { readonly node: Text; readonly offset: number } | null {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let left = wanted;
  while (texts.nextNode() !== null) {
    const { currentNode } = texts;
    if (!(currentNode instanceof Text)) continue;
    if (left <= currentNode.length) return { node: currentNode, offset: left };
    left -= currentNode.length;
  }
  return null;
}
