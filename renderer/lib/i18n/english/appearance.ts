// Words for the look of the window: theme, contrast, density, and whether single letters are keys.

export const appearance = {
  title: 'Appearance',
  theme: 'Theme',
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  moreContrast: 'More contrast',
  compact: 'Compact',
  compactAbout: 'More on the screen, with less space between.',
  singleKeys: 'Single-letter shortcuts',
  singleKeysAbout: 'J, K and ? do something while you are not typing.',
} as const;
