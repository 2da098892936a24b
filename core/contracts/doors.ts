// The doors through which requests reach the program, and their properties. Every list of doors is derived from this table.

interface Door {
  /** Whether the caller is at this computer: it receives the answers here, sees errors, and may name files. */
  readonly isHere: boolean;
  /** Whether a person uses it. Requests started by a tool carry a mark, and are refused where a person is needed. */
  readonly isPersonal: boolean;
}

export const doors = {
  window: { isHere: true, isPersonal: true },
  cli: { isHere: true, isPersonal: true },
  tray: { isHere: true, isPersonal: true },
  library: { isHere: true, isPersonal: true },
  http: { isHere: true, isPersonal: false },
  /** Programs that speak OpenAI's API. They cannot name files. */
  openai: { isHere: true, isPersonal: false },
  ollama: { isHere: true, isPersonal: false },
  /** Agents on other machines. */
  a2a: { isHere: false, isPersonal: false },
  /** Clients of the Model Context Protocol, with a door token. They cannot name files either. */
  mcp: { isHere: true, isPersonal: false },
  telegram: { isHere: false, isPersonal: false },
  /** Every other chat service, including those of plugins. */
  chat: { isHere: false, isPersonal: false },
} as const satisfies Readonly<Record<string, Door>>;
export type DoorName = keyof typeof doors;

/** Accepts any channel of a turn or message. False for channels that are not doors: a schedule, a subagent, a chat of a plugin. */
export function isHere(channel: string): boolean {
  return Object.hasOwn(doors, channel) && doors[channel as DoorName].isHere;
}
