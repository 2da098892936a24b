// The doors through which something is asked of the program, and what each says about itself. Every list of doors is derived from here.

interface Door {
  /** At this computer: who writes here reads the answer here, sees what fails, and may name its files. */
  readonly isHere: boolean;
  /** A person sits behind it. What a tool starts carries a mark, and is refused where a person is asked for. */
  readonly isPersonal: boolean;
}

export const doors = {
  window: { isHere: true, isPersonal: true },
  cli: { isHere: true, isPersonal: true },
  tray: { isHere: true, isPersonal: true },
  library: { isHere: true, isPersonal: true },
  http: { isHere: true, isPersonal: false },
  /** Programs that speak OpenAI's API. They name no files. */
  openai: { isHere: true, isPersonal: false },
  /** Agents on other machines. */
  a2a: { isHere: false, isPersonal: false },
  /** Clients of the Model Context Protocol, by a door token. They name no files either. */
  mcp: { isHere: true, isPersonal: false },
  telegram: { isHere: false, isPersonal: false },
  /** Every other chat service, those of plugins included. */
  chat: { isHere: false, isPersonal: false },
} as const satisfies Readonly<Record<string, Door>>;
export type DoorName = keyof typeof doors;

/** Of any channel a turn or a message may come from; false for those that are no doors: a schedule, a helper, a chat of a plugin. */
export function isHere(channel: string): boolean {
  return Object.hasOwn(doors, channel) && doors[channel as DoorName].isHere;
}
