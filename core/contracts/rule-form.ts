// The limits of a pinned rule. Plain data, so that the window can use it without the schemas.

/** In characters. */
export const ruleTextMax = 1_000;
