// A number with its noun, in English.

/** `counted(1, 'file')` is "1 file", `counted(2, 'file')` is "2 files". `many` is for other plurals. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
