// The languages with highlighting, and the names people write for them. Each grammar is a separate file, loaded on demand.

import type { LanguageInput, LanguageRegistration } from 'shiki/core';

export const grammars = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  mermaid: () => import('shiki/langs/mermaid.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: async () => alone('ruby', (await import('shiki/langs/ruby.mjs')).default),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
} satisfies Readonly<Record<string, LanguageInput>>;

/** Leaves out the embedded grammars, as the build does: together they are larger than all others. */
function alone(name: string, loaded: readonly LanguageRegistration[]): LanguageRegistration[] {
  return loaded.filter((one) => one.name === name).map((one) => ({ ...one, embeddedLangs: [] }));
}

export type LanguageName = keyof typeof grammars;

const otherNames: Readonly<Record<string, LanguageName>> = {
  sh: 'bash',
  shell: 'bash',
  shellscript: 'bash',
  zsh: 'bash',
  console: 'bash',
  'c#': 'csharp',
  cs: 'csharp',
  scss: 'css',
  patch: 'diff',
  dockerfile: 'docker',
  golang: 'go',
  conf: 'ini',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'tsx',
  json5: 'json',
  jsonc: 'json',
  kt: 'kotlin',
  ps1: 'powershell',
  pwsh: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  svg: 'xml',
  yml: 'yaml',
};

/** Null if there is no grammar for the language. */
export function languageNamed(written: string): LanguageName | null {
  const name = written.toLowerCase();
  if (Object.hasOwn(grammars, name)) return name as LanguageName;
  return Object.hasOwn(otherNames, name) ? (otherNames[name] ?? null) : null;
}
