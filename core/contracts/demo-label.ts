// What every answer of the offline demo begins with. Lists that show only the beginning of a text leave it out.

export const demoLabel = '[Offline demo, no language model]';
