// Texts about diagrams in answers.

export const markdown = {
  diagram: {
    source: 'Source of the diagram',
    showSource: 'Show source',
    fullSize: 'Full size',
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
      unreadable: 'shown as source: the diagram cannot be read',
      large: 'shown as source: too large to draw',
      outside: 'shown as source: it refers to something outside',
      late: 'shown as source: drawing took too long',
    },
  },
} as const;
