// The menu on the right mouse button, and zooming by keys and wheel, which people expect of any desktop program. Electron has neither
// without a menu bar.

import type { ContextMenuParams, Input, MenuItemConstructorOptions, WebContents } from 'electron';
import type { Logger } from '../../core/base/logger.ts';

export interface PageMenuOptions {
  readonly isMac: boolean;
  readonly showMenu: (items: MenuItemConstructorOptions[]) => void;
  readonly copyText: (text: string) => Promise<void>;
  readonly logger: Logger;
}

const suggestionsMax = 5;
/** About 58 to 249 percent. */
const zoomLevels = { least: -3, most: 5, step: 0.5 };

/** Follows one page for as long as it exists. */
export function followPageMenu(contents: WebContents, options: PageMenuOptions): void {
  const zoom = (direction: -1 | 0 | 1): void => {
    const level = direction === 0 ? 0 : contents.getZoomLevel() + direction * zoomLevels.step;
    contents.setZoomLevel(Math.min(zoomLevels.most, Math.max(zoomLevels.least, level)));
  };
  const copyLink = (link: string): void => {
    options.copyText(link).catch((cause: unknown) => {
      options.logger.log('warn', 'a link could not be copied', { cause: String(cause) });
    });
  };
  contents.on('context-menu', (_event, params) => {
    const items = pageMenu(params, contents, copyLink);
    if (items.length > 0) options.showMenu(items);
  });
  contents.on('zoom-changed', (_event, direction) => zoom(direction === 'in' ? 1 : -1));
  contents.on('before-input-event', (event, input) => {
    const direction = zoomKey(input, options.isMac);
    if (direction === null) return;
    event.preventDefault();
    zoom(direction);
  });
}

/** The entries for what is under the pointer; empty if nothing can be done with it. */
function pageMenu(params: ContextMenuParams, contents: WebContents, copyLink: (link: string) => void): MenuItemConstructorOptions[] {
  const { x, y, editFlags, isEditable, linkURL, mediaType, misspelledWord, selectionText } = params;
  const spelling = !isEditable || misspelledWord === '' ? [] : params.dictionarySuggestions.slice(0, suggestionsMax);
  const groups: MenuItemConstructorOptions[][] = [
    spelling.map((word) => ({ label: word, click: () => contents.replaceMisspelling(word) })),
    /^(?:https?|mailto):/.test(linkURL) ? [{ label: 'Copy link', click: () => copyLink(linkURL) }] : [],
    mediaType === 'image' ? [{ label: 'Copy picture', click: () => contents.copyImageAt(x, y) }] : [],
    isEditable
      ? [
          { role: 'cut', enabled: editFlags.canCut },
          { role: 'copy', enabled: editFlags.canCopy },
          { role: 'paste', enabled: editFlags.canPaste },
          { role: 'selectAll', enabled: editFlags.canSelectAll },
        ]
      : selectionText.trim() === ''
        ? []
        : [{ role: 'copy' }],
  ];
  return groups.filter((group) => group.length > 0).flatMap((group, at) => (at === 0 ? group : [{ type: 'separator' }, ...group]));
}

/** Bigger, smaller or, with 0, as usual; null for other keys. */
function zoomKey({ type, key, control, meta, alt }: Input, isMac: boolean): -1 | 0 | 1 | null {
  if (type !== 'keyDown' || alt || !(isMac ? meta && !control : control && !meta)) return null;
  if (key === '+' || key === '=') return 1;
  if (key === '-' || key === '_') return -1;
  return key === '0' ? 0 : null;
}
