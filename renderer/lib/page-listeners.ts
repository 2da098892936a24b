// Loads the permanent listeners of the page after the first paint.

/** See `followPage`. */
export function listenToPage(page: Document, openLink: ((url: string) => void) | null): () => void {
  const followed = import('./followed-page.ts').then(({ followPage }) => followPage(page, openLink));
  return () => void followed.then((stop) => stop());
}
