// Reads a PowerPoint presentation: the text of each slide in the order of the show, its tables, and the speaker's notes. Pure.

import { OfficeBlocks } from './office-blocks.ts';
import { partOf, type OfficeParts } from './office-parts.ts';
import { attribute, scanXml, type XmlReader } from './office-xml.ts';

export function readSlides(parts: OfficeParts, main: string): string[] {
  const relations = parts.relationsOf(main);
  const slides: string[] = [];
  scanXml(parts.read(main), {
    open: (name, attributes) => {
      const path = name === 'sldId' ? relations.get(attribute(attributes, ':id') ?? '')?.target : undefined;
      if (path !== undefined) slides.push(readSlide(parts, path));
      return true;
    },
  });
  return slides;
}

function readSlide(parts: OfficeParts, path: string): string {
  const flow = new SlideFlow();
  scanXml(parts.read(path), flow);
  const notes = new SlideFlow();
  scanXml(parts.read(partOf(parts.relationsOf(path), 'notesSlide')), notes);
  const shown = `${flow.isHidden ? '[hidden slide]\n' : ''}${flow.toString()}`;
  return notes.toString() === '' ? shown : `${shown}\n\nNotes: ${notes.toString()}`;
}

class SlideFlow implements XmlReader {
  readonly #blocks = new OfficeBlocks('\n');
  isHidden = false;
  #isTitle = false;
  #isText = false;

  open(name: string, attributes: string): boolean {
    if (name === 'Fallback') return false;
    // The number and the date of a slide are no text of it.
    if (name === 'fld') return !/^(?:slidenum|datetime)/.test(attribute(attributes, 'type') ?? '');
    if (name === 'sld') this.isHidden = attribute(attributes, 'show') === '0';
    else if (name === 'ph') this.#isTitle = /^(?:title|ctrTitle)$/.test(attribute(attributes, 'type') ?? '');
    else if (name === 'p') this.#blocks.beginParagraph(this.#isTitle ? '# ' : '');
    else if (name === 't') this.#isText = true;
    else if (name === 'br') this.#blocks.add('\n');
    else if (name === 'tbl') this.#blocks.beginTable();
    else if (name === 'tr') this.#blocks.beginRow();
    else if (name === 'tc') this.#blocks.beginCell();
    return true;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'sp') this.#isTitle = false;
    else if (name === 'p') this.#blocks.endParagraph();
    else if (name === 'tc') this.#blocks.endCell();
    else if (name === 'tbl') this.#blocks.endTable();
  }

  text(text: string): void {
    if (this.#isText) this.#blocks.add(text);
  }

  toString(): string {
    return this.#blocks.toString();
  }
}
