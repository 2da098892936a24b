import { expect, test } from 'vitest';
import { growth } from '../../../tests/own-clock.ts';
import { inPieces } from '../../../tests/rigs/in-pieces.ts';
import { SafetyChecks } from './safety.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
// Joined at run time so that secret scanners do not report this file.
const weak = ['S0mmer2025', '!'].join('');
const words = ['correct', 'horse', 'battery', 'staple'].join(' ');

const commands = [
  'echo ada:§ | chpasswd',
  "echo 'root:§' | sudo chpasswd",
  "printf 'ada:%s' § | chpasswd",
  'echo "§\\n§" | passwd ada',
  'chpasswd <<< "ada:§"',
  'chpasswd <<EOF\nada:§\nEOF',
  'echo "§" | sudo -S apt update',
  'echo § | docker login -u ada --password-stdin',
  'echo -n § | cryptsetup luksFormat x -',
  'mariadb -uroot -p§ shop',
  'mysqladmin -u root password §',
  'htpasswd -bB -C 10 .htpasswd ada §',
  'htpasswd -nb ada §',
  'curl x.example/api -u ada:§',
  'curl -sSLu ada:§ https://x.example',
  'curl \\\n  -u ada:§ \\\n  https://x.example',
  'http -a ada:§ GET x.example',
  'plink -pw § h',
  'openssl enc -aes-256-cbc -k § -in a',
  'openssl passwd -6 §',
  'docker login r.example -u ada -p §',
  'podman login -u a -p §',
  'gpg --batch --passphrase § -d x',
  'wget --http-password § x',
  'New-LocalUser -Password §',
  'unrar x -p§ a.rar',
  'keytool -genkey -keypass §',
  "ssh-keygen -p -P § -N '' -f k",
  'mongodump -u a -p §',
  'usermod -p § ada',
  'nmcli dev wifi connect Home password §',
  'rabbitmqctl change_password a §',
  'gh secret set X --body §',
  'aws ssm put-parameter --type SecureString --value § --name x',
  'sqlplus ada/§@orcl',
  'jdbc:oracle:thin:ada/§@h:1521:x',
  'Server=h;User Id=a;Password=§;Timeout=3',
  'redis-cli -h x AUTH default §',
  '127.0.0.1:6379> auth §',
  'AUTH ada §',
  'ikev1 pre-shared-key §',
  'pre-shared-key ascii-text "§";',
  'ada : XAUTH "§"',
  'isql -U sa -P § -S srv',
  'isql -v srv sa §',
  'expdp ada/§ schemas=x',
  '"ada" * § *',
  '"ada"\tpptpd\t"§"\t192.168.0.7',
  'echo § > ~/.vnc/passwd',
  "echo -n '§' > /run/secrets/db_password",
  "printf '%s' '§' >> .vault_pass",
  'echo "§" | sudo tee -a api_key.txt',
  'wep_key0="§"',
  '#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    root:§\n    ada:§\n',
  'ConvertTo-SecureString -AsPlainText "§" -Force',
  'NET USER /ADD ada §',
  'dsadd user CN=x -pwd §',
  '[mail.x.example]:587 ada@x.example:§',
  'USER ada\n331 Go on\nPASS §',
  'a1 LOGIN ada §',
  'kubeadm join h:6443 --token §',
  'Fastly-Key: §',
  'cat > pw.txt <<EOF\n§\nEOF',
  "cat <<'EOF' >> ~/.vault_pass\nada:§\nEOF",
  'tee -a secrets/db_password << EOT\n§\nEOT',
  "echo '§' > pw.txt",
  'db-1.internal:6543:app:ada:§',
  '/var/run/postgresql:6432:app:ada:§',
  'DRIVER={PostgreSQL};SERVER=x;UID=ada;PWD={§};',
];

const statements = [
  "INSERT INTO users(name, password) VALUES ('ada', '§');",
  "insert into `users` (`id`, `passwd`, `at`) values (1, '§', NOW()), (2, '§', NOW());",
  "INSERT INTO \"users\" (\"name\", \"password\")\nVALUES\n  ('O''Hara', '§'),\n  ('a, b)', '§');",
  "create user ada identified by '§'",
  "ALTER ROLE ada WITH LOGIN ENCRYPTED PASSWORD '§';",
  "SET PASSWORD FOR 'ada'@'%' = PASSWORD('§');",
  "CREATE LOGIN ada WITH PASSWORD=N'§'",
];

const definedBefore = [
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password TEXT);\nINSERT INTO users VALUES (1, 'ada', '§');",
  "create table if not exists app.`users` (\n  `id` int(11) NOT NULL DEFAULT ')',\n  `price` decimal(3,2),\n  `passwd` varchar(20),\n  KEY `passwd` (`passwd`)\n);\n" +
    "LOCK TABLES `users` WRITE;\nINSERT INTO `users` VALUES (1,1.5,'§'),(2,1.5,'§');\nINSERT INTO `users` VALUES (3,2,'§');",
  'CREATE TABLE "Users" (id int, "password" text);\nCREATE TABLE posts (id int);\nINSERT INTO posts VALUES (1);\nINSERT INTO "Users" VALUES (1, \'§\');',
  'COPY public.users (id, name, password) FROM stdin;\n1\tada\t§\n2\teva\t§\n\\.\n',
];

const withoutColumns = [
  "INSERT INTO credentials VALUES (1, 'ada', '§');",
  "insert into app.`user_passwords` values ('ada', '§'), ('eva', '§');",
];

const settings = ['<Connector keystorePass="§"/>', 'bindpw: §', '"§" | ConvertTo-SecureString -AsPlainText'];

test.each(settings)('redacts a strong password by its place: %s', (form) => {
  expect(open().redact(form.replace('§', weak)).text).toBe(form.replace('§', '[redacted:secret]'));
});

const hiddenNames = ['pass\u200bword: §', 'p\u00ada\u00ads\u00ads\u00adword = "§"', 'pass\u2060word=§', '\ufeffpass\ufeffword: §'];

const phrases = ['passphrase: §', 'My passphrase is "§".', 'PASSPHRASE="§"', '{"passphrase": "§"}', "export VAULT_PASSWORD='§'"];

const cases = [
  ...withoutColumns.flatMap((form) => [weak, 'S0mmer2025'].map((secret): [string, string] => [form, secret])),
  ...[...commands, ...statements, ...definedBefore, ...hiddenNames].flatMap((form) =>
    [weak, 'hunter2'].map((secret): [string, string] => [form, secret]),
  ),
  ...phrases.map((form): [string, string] => [form, words]),
].filter(([form, secret]) => !hiddenNames.includes(form) || secret === weak);

test.each(cases)('redacts a password by its place, whole and in any pieces: %s with %s', (form, secret) => {
  const text = `${form.replaceAll('§', secret)}\nend\n`;
  const whole = open().redact(text).text;
  expect(whole).not.toContain(secret);
  for (const size of [1, 3, 7, 19]) expect(inPieces(open(), text, size)).toBe(whole);
});

const harmless = [
  'echo user:group | tee owners.txt',
  'echo hello1 | sort',
  'Run chpasswd to change it, or passwd --stdin on Fedora 40.',
  'docker login --password-stdin < token.txt',
  'docker login r.example and push image2 -p later',
  'gpg --passphrase-fd 0 --batch file1.gpg',
  'openssl enc -aes-256-cbc -k $PASSWORD -in a1',
  'unzip -p archive.zip file1.txt',
  'curl x.example/a1 -o user:group1',
  'a two-pass parser2 reads it',
  "INSERT INTO users(name, password) VALUES ('ada4711x', ?);",
  "INSERT INTO posts (title, body) VALUES ('password', 'Hello2 you');",
  "INSERT INTO settings (password, name) VALUES (NULL, 'hunter2');",
  "ALTER TABLE users ADD COLUMN password VARCHAR(64) DEFAULT 'none64';",
  'ALTER USER ada PASSWORD NULL;',
  'objects identified by their id4711',
  'passphrase: enter the words that you were given',
  'passphrase: four random words, such as those of a list',
  '"passphrase": "use something long and easy"',
  'pass\u200bport: S0mmer2025',
  'PASS core/guard/a1.test.ts',
  'AUTH is checked by module2 first',
  'pre-shared-key authentication of phase 1',
  'echo hello1x > notes.txt',
  'echo hello1x > tokenizer.txt',
  'echo "$TOKEN1" > token.txt',
  'a * b1c2d3 * c',
  'isql is the client of unixODBC2',
  "INSERT INTO posts VALUES (1, 'hunter2x', 'b1c2d3e4');",
  "INSERT INTO passwords VALUES (?, 'ada');",
  "CREATE TABLE users (id int, password text);\nINSERT INTO posts VALUES (1, 'hunter2x');",
  "CREATE TABLE users (id int, password text, name text);\nINSERT INTO users VALUES (1, NULL, 'hunter2x');",
  'COPY users (id, password) FROM stdin;\n1\t\\N\n\\.\nb1c2d3\thunter2x',
  'cat > notes.txt <<EOF\nhunter2x\nEOF',
  'cat > passwords.md <<EOF\n# How to sign in2\nEOF',
  'cat > pwd.txt <<EOF\n$(date +%F1)\nEOF',
  '<Login user={ada} password={props.password1} />',
  'const db = { host: h1:5432:5433 };',
  'connect the cable/port12x to it',
];

test.each(harmless)('leaves what is not a password readable: %s', (text) => {
  expect(open().redact(text)).toEqual({ text, found: [] });
});

test.each([
  ['rows of a statement', "INSERT INTO a (password) VALUES ('a1');".replace(';', ",('a1')".repeat(40_000))],
  ['statements without an end', 'INSERT INTO a (password) VALUES ('.repeat(9_000)],
  ['lists of columns', 'insert into a (password,'.repeat(12_000)],
  ['commands without an end', 'curl -'.repeat(50_000)],
  ['echoes', 'echo a:b | '.repeat(27_000)],
  ['names with signs that show nothing', 'pass\u00adword:'.repeat(25_000)],
  ['tables of secrets', 'insert into secrets values ('.repeat(11_000)],
  ['outputs to files', `echo ${'a1>'.repeat(100_000)}`],
  ['names of files', 'echo abc1def > a/'.repeat(18_000)],
  ['stars', 'a * b1c2d3 * '.repeat(23_000)],
  ['logins', 'a LOGIN x '.repeat(30_000)],
  ['users', 'USER a\n331 b\nPASS '.repeat(16_000)],
  ['lists of users', 'chpasswd:\n  list: |\n    a:b\n'.repeat(10_000)],
  ['prompts', 'h:6379> auth '.repeat(23_000)],
  ['tables', 'create table a (password text);'.repeat(10_000)],
  ['tables with rows', `create table a (password text);${"insert into a values ('b1');".repeat(11_000)}`],
  ['tables without an end', 'create table a (password '.repeat(12_000)],
  ['quotes of a table', `create table a (password ${"'".repeat(300_000)}`],
  ['rows of others', `create table a (password text);${"insert into b values ('b1');".repeat(11_000)}`],
  ['copied lines', `copy a (password) from stdin;\n${'b1c2d3\n'.repeat(43_000)}`],
  ['copies', 'copy a (password) from stdin;\n'.repeat(10_000)],
  ['copies without an end', 'copy a (password '.repeat(18_000)],
  ['here-documents', '> token <<EOF\n'.repeat(21_000)],
  ['bodies of keys', `b3BlbnNzaC1rZXktdjE${'AAAA'.repeat(75_000)}`],
  ['begins of keys', 'b3BlbnNzaC1rZXktdjEAAAAAAAAAAAAAAAAAAAA\n'.repeat(7_500)],
  ['words of a phrase', `passphrase: ${'abc '.repeat(75_000)}`],
])('300 KB of %s are read in time', (_, text) => {
  expect(growth(text, (part) => open().redact(part))).toBeLessThan(20);
});
