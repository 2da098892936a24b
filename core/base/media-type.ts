// Recognises content by its first bytes: a name and a claimed type prove nothing, and a vendor refuses a fake image.

const beginnings: readonly (readonly [type: string, offset: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
  ['application/pdf', 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ['application/rtf', 0, [0x7b, 0x5c, 0x72, 0x74, 0x66]],
  ['application/zip', 0, [0x50, 0x4b, 0x03, 0x04]],
  ['application/x-ole-storage', 0, [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
];

const office = 'application/vnd.openxmlformats-officedocument.';
const open = 'application/vnd.oasis.opendocument.';
/** Documents whose text can be read: the type, what it is called, and the usual endings of its files. */
const documents: readonly (readonly [type: string, name: string, endings: string])[] = [
  ['application/pdf', 'a PDF', 'pdf'],
  [`${office}wordprocessingml.document`, 'a Word document', 'docx docm'],
  [`${office}spreadsheetml.sheet`, 'an Excel workbook', 'xlsx xlsm'],
  [`${office}presentationml.presentation`, 'a PowerPoint presentation', 'pptx pptm'],
  [`${open}text`, 'an OpenDocument text', 'odt'],
  [`${open}spreadsheet`, 'an OpenDocument spreadsheet', 'ods'],
  [`${open}presentation`, 'an OpenDocument presentation', 'odp'],
  ['application/epub+zip', 'an EPUB book', 'epub'],
  ['application/rtf', 'an RTF document', 'rtf'],
];
/** The names of the types of documents. Files of old or locked formats are recognised only to say so. */
export const documentNames: ReadonlyMap<string, string> = new Map([
  ...documents.map(([type, name]) => [type, name] as const),
  ['application/x-ole-storage', 'a file of an old or locked Office format'],
]);
/** The types of documents by the ending of the file name, in lower case. */
export const documentTypes: ReadonlyMap<string, string> = new Map(
  documents.flatMap(([type, , endings]) => endings.split(' ').map((ending) => [ending, type] as const)),
);
/** The names that identify the archive of an office document. OpenDocument and EPUB state their type at the beginning, uncompressed. */
const contained: readonly (readonly [text: string, type: string])[] = [
  ['word/document', `${office}wordprocessingml.document`],
  ['xl/workbook.xml', `${office}spreadsheetml.sheet`],
  ['ppt/presentation.xml', `${office}presentationml.presentation`],
  [`mimetype${open}text`, `${open}text`],
  [`mimetype${open}spreadsheet`, `${open}spreadsheet`],
  [`mimetype${open}presentation`, `${open}presentation`],
  ['mimetypeapplication/epub+zip', 'application/epub+zip'],
];

/** Pictures that models accept. */
export const pictureTypes: ReadonlySet<string> = new Set(beginnings.map(([type]) => type).filter((type) => type.startsWith('image/')));
/** A larger picture is not shown to a model. */
export const pictureBytesMax = 5_000_000;

/** The media type of a picture, a document, or another archive; null for anything else. An office document is recognised only as a whole. */
export function knownMediaType(bytes: Uint8Array): string | null {
  const found = beginnings.find(([, offset, start]) => start.every((byte, index) => bytes[offset + index] === byte))?.[0] ?? null;
  if (found !== 'application/zip') return found;
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return contained.find(([text]) => archive.includes(text))?.[1] ?? found;
}

/** Whether these first bytes may be those of a document whose text can be read. */
export function mayBeDocument(start: Uint8Array): boolean {
  const type = knownMediaType(start);
  return type !== null && (type === 'application/zip' || documentNames.has(type));
}
