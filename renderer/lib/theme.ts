// Light or dark and how much contrast, as the person chose or as the system says. Kept in this browser, the only thing the window keeps
// beyond its tab.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const contrasts = ['system', 'more'] as const;
export type Contrast = (typeof contrasts)[number];

const themeKey = 'trayclaw.theme';
const contrastKey = 'trayclaw.contrast';
const wantsMore = '(prefers-contrast: more)';

export function readTheme(): Theme {
  return kept(themeKey, themes);
}

export function readContrast(): Contrast {
  return kept(contrastKey, contrasts);
}

export function keepTheme(theme: Theme): void {
  keep(themeKey, theme);
  applyTheme(theme);
}

export function keepContrast(contrast: Contrast): void {
  keep(contrastKey, contrast);
  applyContrast();
}

/** What was chosen, and what the system says from now on where nothing was. */
export function followAppearance(): void {
  applyTheme(readTheme());
  applyContrast();
  matchMedia(wantsMore).addEventListener('change', applyContrast);
}

function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function applyContrast(): void {
  const isMore = readContrast() === 'more' || matchMedia(wantsMore).matches;
  if (isMore) document.documentElement.dataset['contrast'] = 'more';
  else delete document.documentElement.dataset['contrast'];
}

function kept<T extends string>(key: string, known: readonly T[]): T | 'system' {
  const value = localStorage.getItem(key);
  return known.find((candidate) => candidate === value) ?? 'system';
}

function keep(key: string, value: string): void {
  if (value === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, value);
}
