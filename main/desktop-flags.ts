// The words by which the desktop app is told to do something else than to open its window.

/** The running app of the same data folder ends as if asked in its menu, and so does this start. */
export const quitFlag = '--quit';
/** What follows is a command line: the program answers in the terminal and opens no window. */
export const cliFlag = '--cli';
