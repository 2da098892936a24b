// The part of picomatch 4 that is used here; the package ships no types.

declare module 'picomatch' {
  interface Options {
    readonly dot?: boolean;
    readonly noextglob?: boolean;
    readonly nonegate?: boolean;
    readonly nocase?: boolean;
  }
  export default function picomatch(pattern: string, options?: Options): (path: string) => boolean;
}
