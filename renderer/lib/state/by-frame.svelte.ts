// How much of a long list is drawn: a part at once, more in each of the next frames, so that no key waits for all of it.

export class ByFrame {
  most = $state(0);

  /** Belongs to the component that creates it. */
  constructor(perFrame: number, length: () => number) {
    this.most = perFrame;
    $effect(() => {
      if (this.most >= length()) return undefined;
      const frame = requestAnimationFrame(() => (this.most += perFrame));
      return () => cancelAnimationFrame(frame);
    });
  }
}
