// Makes the names of files that a turn read or changed open the file: names as code or in bold, and links with a relative address. The names
// come from the calls, never from the answer, so a text can only point at files that the turn really touched.

export interface FileLinks {
  /** The path to open, by the name that the calls used. */
  readonly byName: ReadonlyMap<string, string>;
  readonly open: (path: string, opener: HTMLElement) => void;
}

/** Works on one block of an answer. */
export function linkFiles(block: HTMLElement, { byName, open }: FileLinks): void {
  if (byName.size === 0) return;
  for (const node of block.querySelectorAll<HTMLElement>('.file, strong, :not(pre) > code')) {
    const path = byName.get((node.title || node.textContent).replace(/^\.\//, ''));
    // A name within a link would be two controls in one.
    if (path === undefined || node.parentElement?.closest('a, .file') !== null) continue;
    const link = block.ownerDocument.createElement('a');
    // The address is only there for the keyboard: it leads to where the window is.
    link.href = '#';
    link.addEventListener('click', (event) => {
      event.preventDefault();
      open(path, link);
    });
    node.replaceWith(link);
    link.append(node);
  }
}
