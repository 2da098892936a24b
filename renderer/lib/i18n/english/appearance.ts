// Texts about appearance: theme, contrast, density, and single-letter keys.

export const appearance = {
  title: 'Appearance',
  theme: 'Theme',
  themes: { system: 'Same as system', light: 'Light', dark: 'Dark' },
  moreContrast: 'More contrast',
  compact: 'Compact',
  compactAbout: 'Fits more on the screen.',
  singleKeys: 'Single-letter shortcuts',
  singleKeysAbout: 'J, K and ? are shortcuts while you are not typing.',
} as const;
