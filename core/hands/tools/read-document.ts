// Reads the text of a document by its content. Runs in a separate thread.

import { knownMediaType } from '../../base/media-type.ts';
import type { DocumentText } from './document-text.ts';

const OLD = 'Its text cannot be read: save it as .docx, .xlsx or .pptx, without a password.';

/** `bytes` are those of a document by `knownMediaType`. The readers are loaded when they are needed. */
export async function readDocument(bytes: Uint8Array): Promise<DocumentText> {
  const mediaType = knownMediaType(bytes);
  if (mediaType === 'application/pdf') return (await import('./pdf-text.ts')).readPdf(bytes);
  if (mediaType === 'application/rtf') return (await import('./office-rtf.ts')).readRtf(bytes);
  if (mediaType === 'application/x-ole-storage') return { title: null, pages: [], unit: null, problem: OLD };
  return (await import('./office-text.ts')).readOffice(bytes, mediaType ?? '');
}
