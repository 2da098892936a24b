// The beginning of every answer of the offline demo. Lists that show only the first words of a text leave it out.

export const demoLabel = '[Offline demo, no language model]';
