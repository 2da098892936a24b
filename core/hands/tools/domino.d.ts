// The part of the DOM library that is used here; the package declares its types under another name.

declare module '@mixmark-io/domino' {
  const domino: { createDocument(html: string, force: true): unknown };
  export default domino;
}
