import type { Words } from '../words.ts';

export const appearance: Words['appearance'] = {
  title: 'Darstellung',
  theme: 'Farben',
  themes: { system: 'Wie das System', light: 'Hell', dark: 'Dunkel' },
  moreContrast: 'Mehr Kontrast',
  compact: 'Kompakt',
  compactAbout: 'Mehr auf dem Bildschirm, mit weniger Abstand.',
  language: 'Sprache',
  singleKeys: 'Kürzel aus einem Zeichen',
  singleKeysAbout: 'J, K und ? wirken, solange nichts getippt wird.',
};
