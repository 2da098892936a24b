// Words of an answer's diagrams.

export const markdown = {
  diagram: {
    source: 'Source of the diagram',
    showSource: 'Show source',
    name: (kind: string, title: string) => (title === '' ? kind : `${kind}: ${title}`),
    kinds: {
      flowchart: 'Flowchart',
      sequence: 'Sequence diagram',
      class: 'Class diagram',
      state: 'State diagram',
      entities: 'Entity diagram',
      gantt: 'Gantt chart',
      pie: 'Pie chart',
      git: 'Git graph',
      journey: 'Journey',
      timeline: 'Timeline',
      chart: 'Chart',
      other: 'Diagram',
    },
    failures: {
      unreadable: 'shown as its source: the diagram cannot be read',
      large: 'shown as its source: too large to be drawn',
      outside: 'shown as its source: it names something outside',
      late: 'shown as its source: drawing it took too long',
    },
  },
} as const;
