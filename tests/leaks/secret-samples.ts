// Made-up secrets in the forms of many providers, each in a line as found in real files. The random letters come from a fixed seed; parts
// are joined here so that no scanner reports this file as a leak.

export interface SecretSample {
  readonly kind: string;
  /** A line of a file or an answer. */
  readonly line: string;
  /** The secret part of the line. */
  readonly secret: string;
}

const alphabets = {
  mixed: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  lower: 'abcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  hex: '0123456789abcdef',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
} as const;

/** Generates the same letters in every run. */
export function createRandomText(seed: number): (length: number, alphabet?: keyof typeof alphabets) => string {
  let state = seed;
  const next = (): number => {
    // xorshift32, Marsaglia 2003.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return (length, alphabet = 'mixed') => {
    const letters = alphabets[alphabet];
    // Contains each kind of character at least once, as issued secrets practically always do.
    const first = letters === alphabets.mixed ? 'a1B'.slice(0, length) : '';
    return first + Array.from({ length: length - first.length }, () => letters.charAt(next() % letters.length)).join('');
  };
}

const random = createRandomText(20_261_122);
function whole(kind: string, ...parts: readonly string[]): SecretSample {
  const secret = parts.join('');
  return { kind, line: `found ${secret} there`, secret };
}
const inLine = (kind: string, secret: string, line: (secret: string) => string): SecretSample => ({ kind, line: line(secret), secret });
const uuid = (): string => [8, 4, 4, 4, 12].map((length) => random(length, 'hex')).join('-');
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const pemBody = (lines: number): string => Array.from({ length: lines }, () => random(64, 'base64')).join('\n');
const pem = (label: string): SecretSample => {
  const secret = `-----BEGIN ${label}-----\n${pemBody(6)}\n-----END ${label}-----`;
  return { kind: `PEM ${label}`, line: secret, secret };
};

export const secretSamples: readonly SecretSample[] = [
  whole('AWS access key id', 'AKIA', random(16, 'upper')),
  inLine('AWS secret key', random(40, 'base64'), (secret) => `aws_secret_access_key = ${secret}`),
  whole('AWS session token', 'IQoJb3JpZ2lu', random(200)),
  whole('Google API key', 'AIza', random(35)),
  whole('Google OAuth token', 'ya29.', random(60)),
  whole('Google client secret', 'GOCSPX', '-', random(28)),
  inLine(
    'Google service account',
    `-----BEGIN PRIVATE KEY-----\\n${random(64, 'base64')}\\n${random(64, 'base64')}\\n-----END PRIVATE KEY-----\\n`,
    (secret) => `"private_key": "${secret}"`,
  ),
  inLine(
    'Azure storage key',
    random(86, 'base64') + '==',
    (secret) => `DefaultEndpointsProtocol=https;AccountName=x;AccountKey=${secret};EndpointSuffix=core.windows.net`,
  ),
  whole('Azure client secret', random(3), '8Q~', random(34)),
  inLine('Azure signature', random(43) + '%3D', (secret) => `https://x.blob.core.windows.net/c?sv=2024&sig=${secret}`),
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((prefix) => whole(`GitHub ${prefix}`, `${prefix}_${random(36)}`)),
  whole('GitHub fine-grained', 'github_pat', '_', random(82)),
  whole('GitLab', 'glpat', '-', random(20)),
  whole('Slack bot', 'xoxb', '-123456789012-1234567890123-', random(24)),
  whole('Slack user', 'xoxp', '-123456789012-1234567890123-', random(32)),
  whole('Slack app', 'xapp', '-1-A0123456789-', random(64, 'hex')),
  whole('Slack webhook', 'hooks.slack', '.com/services/T00000000/B00000000/', random(24)),
  whole('Stripe', 'sk', '_live_', random(24)),
  whole('Stripe restricted', 'rk', '_live_', random(24)),
  whole('OpenAI project', 'sk', '-proj-', random(64)),
  whole('OpenAI', 'sk', '-', random(48)),
  whole('Anthropic', 'sk', '-ant-api03-', random(93)),
  whole('OpenRouter', 'sk', '-or-v1-', random(64, 'hex')),
  whole('xAI', 'xai', '-', random(80)),
  whole('Groq', 'gsk', '_', random(52)),
  whole('Replicate', 'r8', '_', random(37)),
  whole('Hugging Face', 'hf', '_', random(34)),
  whole('Telegram', '1234567890', ':AAH', random(32)),
  whole('Discord', 'MTIzNDU2Nzg5MDEyMzQ1Njc4', '.Gabcde.', random(38)),
  whole('Discord webhook', 'discord.com/api/webhooks/', '123456789012345678/', random(68)),
  whole('Twilio', 'SK', random(32, 'hex')),
  whole('SendGrid', 'SG.', random(22), '.', random(43)),
  whole('Mailgun', 'key-', random(32, 'hex')),
  whole('npm', 'npm', '_', random(36)),
  whole('PyPI', 'pypi-AgEIcHlwaS5vcmc', random(80)),
  whole('Docker Hub', 'dckr_pat', '_', random(27)),
  whole('DigitalOcean', 'dop_v1', '_', random(64, 'hex')),
  inLine('Heroku', uuid(), (secret) => `HEROKU_API_KEY=${secret}`),
  whole('Heroku new', 'HRKU-AA', random(58)),
  inLine('Cloudflare', random(40), (secret) => `CLOUDFLARE_API_TOKEN=${secret}`),
  whole('Linear', 'lin_api', '_', random(40)),
  whole('Notion', 'ntn', '_', random(46)),
  whole('Notion old', 'secret', '_', random(43)),
  whole('Figma', 'figd', '_', random(40)),
  whole('Shopify', 'shpat', '_', random(32, 'hex')),
  whole('Square', 'sq0atp', '-', random(22)),
  whole('PayPal', 'access_token', '$production$', random(16, 'lower'), '$', random(32, 'hex')),
  whole('Databricks', 'dapi', random(32, 'hex')),
  whole('Vault', 'hvs.', random(90)),
  whole('Postman', 'PMAK-', random(24, 'hex'), '-', random(34, 'hex')),
  whole('Grafana', 'glsa', '_', random(32), '_', random(8, 'hex')),
  whole('New Relic', 'NRAK-', random(27, 'upper')),
  whole('JWT', `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub: '1234567890', name: 'Ada' })}.${random(43)}`),
  inLine('Bearer', random(40), (secret) => `Authorization: Bearer ${secret}`),
  inLine('Basic', Buffer.from('ada:correct-horse-1').toString('base64'), (secret) => `Authorization: Basic ${secret}`),
  inLine('URL userinfo', random(20), (secret) => `https://ada:${secret}@example.org/repo.git`),
  inLine('Postgres URL', random(16), (secret) => `DATABASE_URL=postgres://app:${secret}@db.example.org:5432/app`),
  inLine('MongoDB URL', random(16), (secret) => `mongodb+srv://app:${secret}@cluster0.example.net/test`),
  inLine('Cookie', random(40), (secret) => `Cookie: session=${secret}`),
  pem('RSA PRIVATE KEY'),
  pem('EC PRIVATE KEY'),
  pem('PRIVATE KEY'),
  pem('ENCRYPTED PRIVATE KEY'),
  pem('OPENSSH PRIVATE KEY'),
  pem('PGP PRIVATE KEY BLOCK'),
  inLine('PuTTY key', pemBody(4), (secret) => `PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 4\n${secret}\nPrivate-MAC: 00`),
  whole('age', 'AGE-SECRET', '-KEY-1', random(58, 'upper')),
  inLine('.npmrc', uuid(), (secret) => `//registry.npmjs.org/:_authToken=${secret}`),
  inLine('netrc', random(14), (secret) => `machine example.org login ada password ${secret}`),
  inLine('env', random(24), (secret) => `DB_PASSWORD=${secret}`),
  inLine('JSON', random(28), (secret) => `{"client_secret": "${secret}"}`),
  inLine('YAML', random(20), (secret) => `  apiKey: ${secret}`),
  inLine('flag', random(16), (secret) => `mysql --password ${secret} app`),
  // Secrets of newer vendors, and forms without a name in front of them.
  whole('ElevenLabs', 'sk', '_', random(48, 'hex')),
  whole('Novita', 'sk', '_', random(43)),
  whole('Fireworks', 'fw', '_', random(24)),
  whole('Together', 'tgp', '_v1_', random(43)),
  whole('Google AI', 'AQ', '.Ab8', random(46)),
  whole('Google refresh', '1//', '0', random(60)),
  whole('Voyage', 'pa', '-', random(43)),
  whole('Jina', 'jina', '_', random(32, 'hex'), random(28)),
  whole('LangSmith', 'lsv2', '_pt_', random(32, 'hex'), '_', random(10, 'hex')),
  whole('Firecrawl', 'fc', '-', random(32, 'hex')),
  whole('E2B', 'e2b', '_', random(40, 'hex')),
  whole('Modal', 'ak', '-', random(22)),
  whole('Bitbucket', 'ATBB', random(32)),
  whole('Sourcegraph', 'sgp', '_', random(40, 'hex')),
  whole('Fly', 'fm2', '_', random(200, 'base64')),
  whole('Vercel', 'vcp', '_', random(56)),
  whole('Netlify', 'nfp', '_', random(36)),
  whole('Neon', 'napi', '_', random(64, 'lower')),
  whole('Slack browser', 'xoxc', '-123456789012-1234567890123-', random(64, 'hex')),
  whole('Teams webhook', 'webhook.office', `.com/webhookb2/${uuid()}@${uuid()}/IncomingWebhook/${random(32, 'hex')}/${uuid()}`),
  whole('Matrix', 'syt', '_YWRh_', random(20), '_', random(6)),
  whole('Resend', 're', '_', random(8), '_', random(24)),
  whole('Sonar', 'squ', '_', random(40, 'hex')),
  whole('CircleCI', 'CCIPAT', '_', random(22), '_', random(40, 'hex')),
  whole('Pulumi', 'pul', '-', random(40, 'hex')),
  whole('Tailscale', 'tskey', '-auth-', random(17), '-', random(32)),
  whole('HubSpot', 'pat', `-na1-${uuid()}`),
  whole('Facebook', 'EAA', random(180)),
  whole('crates.io', 'cio', random(32)),
  pem('OpenVPN Static key V1'),
  inLine('JSON web key', random(43), (secret) => `{"kty":"EC","crv":"P-256","d":"${secret}"}`),
  inLine('Docker settings', Buffer.from('ada:correct-horse-1').toString('base64'), (secret) => `{"auths":{"x":{"auth":"${secret}"}}}`),
  inLine('pgpass', random(16), (secret) => `localhost:5432:app:ada:${secret}`),
  inLine('netrc, password first', random(14), (secret) => `machine example.org password ${secret} login ada`),
  inLine('env, a UUID', uuid(), (secret) => `EXA_API_KEY=${secret}`),
  inLine('env, a digest', random(40, 'hex'), (secret) => `GITEA_TOKEN=${secret}`),
  inLine('env, 64 hex', random(64, 'hex'), (secret) => `ENCRYPTION_KEY=${secret}`),
  inLine('env, dotted', `${random(32, 'hex')}.${random(16)}`, (secret) => `ZHIPUAI_API_KEY=${secret}`),
  inLine('env, letters alone', 'ISlCJcmTmbvISqPx', (secret) => `DB_PASSWORD=${secret}`),
  inLine('env, pass', random(16), (secret) => `SMTP_PASS=${secret}`),
  inLine('env, auth', random(20), (secret) => `REDIS_AUTH=${secret}`),
  inLine('PSK', random(12), (secret) => `psk="${secret}"`),
  inLine('XML', random(14), (secret) => `<password>${secret}</password>`),
  inLine('XML attribute', random(32), (secret) => `<add key="ApiKey" value="${secret}"/>`),
  inLine('PHP', random(14), (secret) => `define('DB_PASSWORD', '${secret}');`),
  inLine('YAML name and value', random(14), (secret) => `- name: DB_PASSWORD\n  value: ${secret}`),
  inLine('JSON name and value', random(32), (secret) => `{"name":"API_TOKEN","value":"${secret}"}`),
  inLine('table', random(32), (secret) => `| name | value |\n| API_KEY | ${secret} |`),
  inLine('prose', random(14), (secret) => `The password is ${secret}, do not share it.`),
  inLine('prose with a name', random(14), (secret) => `password for ada: ${secret}`),
  inLine('two words', random(32), (secret) => `Your API key: ${secret}`),
  inLine('header, another scheme', random(40, 'hex'), (secret) => `Authorization: Token ${secret}`),
  inLine('header, the key alone', random(40), (secret) => `Authorization: ${secret}`),
  inLine('query', random(32), (secret) => `https://example.org/a?key=${secret}`),
  inLine('query, a digest', random(40, 'hex'), (secret) => `https://example.org/reset?token=${secret}`),
  inLine('signed URL', random(64, 'hex'), (secret) => `https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=${secret}`),
  inLine('URL, the key alone', random(40, 'hex'), (secret) => `https://${secret}@git.example.org/a/b.git`),
  inLine('session cookie', random(26, 'lower'), (secret) => `PHPSESSID=${secret}`),
  inLine('curl, cookie', random(32), (secret) => `curl -b 'sessionid=${secret}' https://example.org`),
  inLine('curl, user', random(16), (secret) => `curl -u ada:${secret} https://example.org`),
  inLine('sshpass', random(14), (secret) => `sshpass -p ${secret} ssh x`),
  inLine('mysql', random(14), (secret) => `mysql -u root -p${secret} app`),
  inLine('mysql, in quotes', random(14), (secret) => `mysql -u root -p'${secret}' app`),
  inLine('docker login', random(14), (secret) => `docker login -u ada -p ${secret} registry.example.org`),
  inLine('SQL', random(14), (secret) => `CREATE USER ada IDENTIFIED WITH x BY '${secret}';`),
  inLine('redis.conf', random(20), (secret) => `requirepass ${secret}`),
  inLine('keytool', random(14), (secret) => `keytool -list -storepass ${secret}`),
  inLine('Dockerfile', random(14), (secret) => `FROM x\nENV DB_PASSWORD ${secret}`),
  inLine('redis-cli', random(20), (secret) => `redis-cli -a ${secret} ping`),
  inLine('openssl', random(14), (secret) => `openssl enc -d -in x -pass pass:${secret}`),
];
