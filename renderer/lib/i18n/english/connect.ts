// Texts of the page that asks for the access token.

export const connect = {
  needsToken: 'This window needs the access token of the running instance. It is printed next to the address by',
  refused: 'This token was not accepted. Copy the one the running instance printed.',
  token: 'Access token',
  connect: 'Connect',
} as const;
