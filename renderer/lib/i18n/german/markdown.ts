// Words of an answer's diagrams.

import type { Words } from '../words.ts';

export const markdown: Words['markdown'] = {
  diagram: {
    source: 'Quelltext des Diagramms',
    showSource: 'Quelltext zeigen',
    name: (kind, title) => (title === '' ? kind : `${kind}: ${title}`),
    kinds: {
      flowchart: 'Flussdiagramm',
      sequence: 'Sequenzdiagramm',
      class: 'Klassendiagramm',
      state: 'Zustandsdiagramm',
      entities: 'Entitätendiagramm',
      gantt: 'Gantt-Diagramm',
      pie: 'Kreisdiagramm',
      git: 'Git-Graph',
      journey: 'Nutzerreise',
      timeline: 'Zeitleiste',
      chart: 'Schaubild',
      other: 'Diagramm',
    },
    failures: {
      unreadable: 'als Quelltext, denn das Diagramm ist nicht lesbar',
      large: 'als Quelltext, denn das Diagramm ist zu groß',
      outside: 'als Quelltext, denn das Diagramm verweist nach außen',
      late: 'als Quelltext, denn das Zeichnen dauerte zu lange',
    },
  },
};
