// Office documents that real programs wrote: LibreOffice, openpyxl and XlsxWriter.

import { readFileSync } from 'node:fs';

export function officeFile(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/office/${name}`, import.meta.url));
}
