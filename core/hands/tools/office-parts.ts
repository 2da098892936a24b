// The parts of an office document, which is a ZIP archive: the XML files in it and how they refer to each other. Pure.

import { posix } from 'node:path';
import { attribute, DamagedDocument, scanXml } from './office-xml.ts';
import { readZip } from './read-zip.ts';

export interface Relation {
  /** The last part of its type: `styles`, `hyperlink`, `notesSlide`. */
  readonly kind: string;
  /** The path of a part, or the address outside of the document. */
  readonly target: string;
  readonly isOutside: boolean;
}

const PART_BYTES_MAX = 100_000_000;
const PARTS_MAX = 20_000;

export class OfficeParts {
  readonly #parts = new Map<string, () => Buffer>();

  /** Fails with `DamagedDocument`. */
  constructor(bytes: Buffer) {
    const rules = { entryBytesMax: PART_BYTES_MAX, entriesMax: PARTS_MAX, refusal: () => new DamagedDocument() };
    // Names of parts are the same in any case.
    for (const { path, content } of readZip(bytes, rules)) this.#parts.set(path.toLowerCase(), content);
  }

  has(path: string): boolean {
    return this.#parts.has(path.toLowerCase());
  }

  /** The text of a part; empty if there is none. */
  read(path: string | undefined): string {
    const bytes = path === undefined ? undefined : this.#parts.get(path.toLowerCase())?.();
    if (bytes === undefined) return '';
    const isUtf16 = bytes.length > 1 && (bytes.readUInt16BE(0) === 0xfffe || bytes.readUInt16BE(0) === 0xfeff);
    return new TextDecoder(!isUtf16 ? 'utf-8' : bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes);
  }

  /** The relations of a part by id. The path '' gives those of the document itself. */
  relationsOf(path: string): ReadonlyMap<string, Relation> {
    const found = new Map<string, Relation>();
    const folder = posix.dirname(path);
    scanXml(this.read(posix.join(folder, '_rels', `${posix.basename(path)}.rels`)), {
      open: (name, attributes) => {
        const [id, type, target] = ['Id', 'Type', 'Target'].map((one) => attribute(attributes, one) ?? '') as [string, string, string];
        const isOutside = attribute(attributes, 'TargetMode') === 'External';
        const inside = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
        if (name === 'Relationship') found.set(id, { kind: posix.basename(type), target: isOutside ? target : inside, isOutside });
        return true;
      },
    });
    return found;
  }
}

/** The path of the first related part of this kind. */
export function partOf(relations: ReadonlyMap<string, Relation>, kind: string): string | undefined {
  return [...relations.values()].find((relation) => relation.kind === kind && !relation.isOutside)?.target;
}
