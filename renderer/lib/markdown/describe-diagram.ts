// Names a diagram for people who cannot see it: its kind, from the first word of its source, and its title. Pure.

export const diagramKinds = [
  'flowchart',
  'sequence',
  'class',
  'state',
  'entities',
  'gantt',
  'pie',
  'git',
  'journey',
  'timeline',
  'chart',
  'other',
] as const;
export type DiagramKind = (typeof diagramKinds)[number];

const kindsByWord: readonly (readonly [RegExp, DiagramKind])[] = [
  [/^(?:graph|flowchart)/i, 'flowchart'],
  [/^sequenceDiagram/i, 'sequence'],
  [/^classDiagram/i, 'class'],
  [/^stateDiagram/i, 'state'],
  [/^erDiagram/i, 'entities'],
  [/^gantt/i, 'gantt'],
  [/^pie/i, 'pie'],
  [/^gitGraph/i, 'git'],
  [/^journey/i, 'journey'],
  [/^timeline/i, 'timeline'],
  [/^(?:xychart|quadrantChart|radar|sankey)/i, 'chart'],
];

export interface DescribedDiagram {
  readonly kind: DiagramKind;
  readonly title: string;
}

const titleCharsMax = 200;

export function describeDiagram(source: string): DescribedDiagram {
  const first = source
    .replace(/^\s*---[ \t]*\n[\s\S]*?\n[ \t]*---/, '')
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !line.startsWith('%%'));
  const kind = kindsByWord.find(([word]) => word.test(first ?? ''))?.[1] ?? 'other';
  const title = /^\s*(?:accTitle\s*:|title\s*:|(?:pie\s+(?:showData\s+)?)?title\s)[ \t]*([^\n]+)$/m.exec(source)?.[1] ?? '';
  return { kind, title: title.trim().slice(0, titleCharsMax) };
}
