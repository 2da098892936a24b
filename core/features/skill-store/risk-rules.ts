// Rules that find harmful text in a skill: one row for each kind of harm, with the sentence that a person reads. Data only; skill-scan.ts
// applies them.

import type { SkillRisk } from '../../contracts/features/skill-store.ts';

export interface RiskRule {
  readonly rule: string;
  readonly level: SkillRisk['level'];
  readonly pattern: RegExp;
  readonly message: string;
}

const fetcher = String.raw`\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c)\b`;
const shell = String.raw`(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da|k|fi|a)?sh\b|(?:sudo\s+)?(?:python[23]?|node|perl|ruby|php|iex|invoke-expression|pwsh|powershell)\b`;
const person = String.raw`(?:the\s+|your\s+)?(?:user|person|human|owner|operator|them|him|her)`;

/** Applied to each line of each text file, also with look-alike letters and spaced-out words normalized. */
export const riskRules: readonly RiskRule[] = [
  {
    rule: 'pipe-to-shell',
    level: 'danger',
    pattern: new RegExp(
      `${fetcher}[^\\n|]*(?:\\|[^\\n|]*){0,2}\\|\\s*(?:${shell})|(?:${shell})\\s+(?:-\\w+\\s+)*["']?(?:<\\(|\\$\\(|\`)\\s*${fetcher}|(?:eval|source|\\.)\\s+["']?(?:<\\(|\\$\\(|\`)\\s*${fetcher}|\\b(?:iex|invoke-expression)\\b[^\\n]*(?:http|${fetcher})|(?:exec|eval)\\s*\\([^\\n]*(?:urlopen|requests\\.get|fetch\\()`,
      'i',
    ),
    message: 'It runs a download that was never reviewed.',
  },
  {
    rule: 'encoded-command',
    level: 'danger',
    pattern: new RegExp(
      `base64\\s+(?:-\\w*[dD]\\w*|--decode)[^\\n]*\\|[^\\n]*(?:${shell})|(?:${shell})[^\\n]*(?:<\\(|\\$\\()[^\\n]*base64\\s+(?:-\\w*[dD]|--decode)|xxd\\s+-r[^\\n]*\\|[^\\n]*(?:${shell})|(?:exec|eval|Function)\\s*\\([^\\n]*(?:b64decode|atob\\(|fromhex|base64|decompress|fromCharCode|rot13)|powershell[^\\n]*\\s-e(?:nc(?:odedcommand)?)?\\s+[A-Za-z0-9+/=]{16}|openssl\\s+enc\\s+-d[^\\n]*\\|`,
      'i',
    ),
    message: 'It decodes a hidden text and runs it.',
  },
  {
    rule: 'reverse-shell',
    level: 'danger',
    pattern:
      /\/dev\/(?:tcp|udp)\/|(?<![$\w{])n(?:et)?c(?:at)?(?:\.exe)?\s(?:[^\n]*\s)?-\w*[ec]\b|\bsocat\b[^\n]*exec:|bash\s+-i\s*[>&]|mkfifo[^\n]*\|\s*(?:nc|sh|bash)|os\.dup2\(|pty\.spawn\(/i,
    message: 'It gives an outsider a command line on this computer.',
  },
  {
    rule: 'sends-data',
    level: 'danger',
    pattern:
      /\b(?:webhook\.site|requestbin|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|oast\.\w+|interact\.sh|burpcollaborator|transfer\.sh|file\.io|0x0\.st|paste(?:bin|\.ee|\.rs)|hookb\.in|beeceptor)\b|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|\b(?:curl|wget)\b[^\n]*\s(?:-d|-F|--data(?:-\w+)?|--form|--post-data)[=\s]*["']?[^\n]{0,80}(?:\$\((?!date|uuidgen)|\x60(?=[^\s\x60])[^\x60\n]+\x60)|\btar\b[^\n]*\|[^\n]*\b(?:curl|nc)\b|\bcat\b[^\n|]*\|[^\n]*\bcurl\b/i,
    message: 'It sends files or the output of commands elsewhere.',
  },
  {
    rule: 'uploads',
    level: 'warning',
    pattern:
      /\bcurl\b[^\n]*\s(?:-d|-F|-T|--data(?:-\w+)?|--form|--upload-file)[=\s]*["']?[^\n]{0,80}@|\bcurl\b[^\n]*\s(?:-T|--upload-file)\s|\bwget\b[^\n]*--post-file|requests\.(?:post|put)\([^\n]*(?:files|data)\s*=|Invoke-RestMethod[^\n]*-InFile/i,
    message: 'It uploads files.',
  },
  {
    rule: 'picture-leak',
    level: 'danger',
    pattern: /!\[[^\]]*\]\(https?:\/\/[^)\s]*(?:[{<$[]|%7B|\bdata=|\bq=)[^)]*\)/i,
    message: 'It shows a picture whose address carries what was said.',
  },
  {
    rule: 'reads-credentials',
    level: 'danger',
    pattern:
      /(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|\/home\/\w+|\/root)\/?\\?\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|config\/(?:gcloud|gh)|azure)\b|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/shadow|security\s+(?:find-(?:generic|internet)-password|dump-keychain)|secret-tool\s+(?:lookup|search)|\b(?:Login Data|Cookies\.binarycookies|cookies\.sqlite|logins\.json|key4\.db|wallet\.dat|keystore\/UTC)\b|expanduser\([^\n]*\.(?:ssh|aws|gnupg|netrc)|\btrayclaw\.db\b|\bvault\.json\b/i,
    message: 'It goes to where passwords and keys are kept.',
  },
  {
    rule: 'asks-for-secrets',
    level: 'danger',
    pattern:
      /\b(?:seed phrase|recovery phrase|mnemonic phrase|private key of (?:your|the) wallet)\b|(?:ask|prompt|get)\s+(?:the\s+|your\s+)?(?:user|person|human|owner)\s+(?:for|to\s+(?:paste|type|enter))\s+(?:\w+\s+){0,3}(?:password|passphrase|pin|private key|card number|cvv)\b/i,
    message: 'It wants a password, a key or a card number from you.',
  },
  {
    rule: 'all-variables',
    level: 'danger',
    pattern:
      /(?:\bprintenv|(?<![.\w/-])env)\s*(?:\|(?!\s*(?:e?grep|sort|less|head)\b)|>)|JSON\.stringify\(\s*process\.env\s*\)|dict\(os\.environ\)|json\.dumps\([^\n]*os\.environ|Get-ChildItem\s+env:[^\n]*\|/i,
    message: 'It takes all environment variables, which may hold keys.',
  },
  {
    rule: 'overrides-instructions',
    level: 'danger',
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b\s+(?:(?:the|your|my|of|these|those)\s+)*(?:(?:all|any|every|previous|prior|above|earlier|other|existing|system|safety|security|developer)\s+(?:(?:the|your|my|of|these|those|previous|prior|above|earlier|other|system|safety)\s+){0,3})(?:instructions?|rules?|messages?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|warnings?|checks?)\b(?!\s+(?:embedded|inside|within|contained|found)\s+(?:in\s+)?(?:the\s+|any\s+|its\s+)?(?:source|slices?|data|files?|comments?|content|pages?|documents?|code|diffs?|output)\b)|\byou are (?:now|no longer)\b[^\n]{0,60}\b(?:unrestricted|jailbroken|developer mode|dan\b|root|admin)|\breal system prompt\b|<\/?(?:system|assistant)>|(?<![^\n])[>#*\s]*\[\/?(?:INST|SYSTEM)\]|<\|(?:im_start|im_end|system|endoftext)/i,
    message: 'It tells the model to set aside its other instructions.',
  },
  {
    // Only in capitals, because "[system]" in lower case may be a placeholder.
    rule: 'overrides-instructions',
    level: 'danger',
    pattern: /\[\/?(?:INST|SYSTEM)\]/,
    message: 'It tells the model to set aside its other instructions.',
  },
  {
    rule: 'hides-from-person',
    level: 'danger',
    pattern: new RegExp(
      `\\b(?:do\\s*n[o']?t|don’t|never|must not|should not)\\s+(?:ever\\s+)?(?:tell|inform|mention|show|reveal|notify|alert|warn|disclose)\\s+(?:(?:this|it|that|about|any|anything|of|to|these|steps?|what|you|did)\\s+){0,5}${person}\\b|\\bwithout\\s+(?:telling|informing|mentioning|showing|notifying|alerting|asking|warning)\\s+(?:(?:this|it|that|to|of)\\s+){0,2}${person}\\b|\\b(?:do\\s*n[o']?t|don’t|never)\\s+ask\\s+(?:${person}\\s+)?(?:for\\s+(?:any\\s+)?(?:confirmation|permission|approval|consent)|before)|\\b(?:do\\s*n[o']?t|don’t|never)\\s+mention\\s+(?:this|it|these|that)\\b|\\b(?:hide|conceal|keep)\\s+(?:(?:this|it|that|these|steps?|secret|all)\\s+){1,4}secret\\b|\\b(?:hide|conceal)\\s+(?:(?:this|it|that|these|steps?|secret|all)\\s+){1,4}from\\b|\\bkeep\\s+(?:(?:this|it|that|these|steps?|secret|all)\\s+){1,4}from\\s+${person}\\b|\\b(?:secretly|covertly|surreptitiously)\\b|\\bsilently\\s+(?:run|execute|send|install|upload|download|copy|add|append|write|delete)\\b`,
      'i',
    ),
    message: 'It tells the model to keep something from you.',
  },
  {
    rule: 'evades-approval',
    level: 'danger',
    pattern:
      /\b(?:skip|bypass|avoid|disable|turn off|circumvent|evade|work around)\b\s+(?:(?:the|all|any|every|your|its|user|human|need|for|of)\s+){0,4}(?:approvals?|confirmations?|sandbox(?:ing)?|safety|guardrails?|permission (?:prompts?|checks?)|policy|gate|verification of (?:the )?(?:signature|hash))\b|\bauto-?approve\s+(?:all|every|the|this|these|it)\b|(?<!\b(?:users?|person|human|you)\s+(?:must|should|can|may|will)\s+)\bapprove (?:all|every|everything|each)\b|--dangerously-\w+|--no-sandbox|\btrayclaw\s+(?:approve|grants?|policy|config|secret|skills\s+(?:trust|install|enable)|panic)\b|\bset\s+\w*approv\w*\s+to\s+(?:always|never|off)\b/i,
    message: 'It wants to get around your approval.',
  },
  {
    rule: 'changes-the-agent',
    level: 'danger',
    pattern:
      /\b(?:write|append|add|edit|modify|update|overwrite|>>|tee|echo)\s+(?:\S+\s+){0,6}\S*\b(?:SOUL|AGENTS|CLAUDE|MEMORY|HEARTBEAT|IDENTITY|TOOLS)\.md\b|>>?\s*\S*(?:SOUL|AGENTS|CLAUDE|MEMORY|HEARTBEAT|IDENTITY|TOOLS)\.md\b|\b(?:remember|memori[sz]e|store in (?:your )?memory)\b[^\n]{0,80}\b(?:from now on|in (?:all|every) (?:future )?(?:sessions?|conversations?))\b/i,
    message: 'It changes what the agent is told in every later conversation.',
  },
  {
    rule: 'works-for-others',
    level: 'warning',
    pattern:
      /\b(?:always|must|only)\s+(?:recommend|suggest|prefer|promote|mention|advertise)\s+(?:our|my|this|the)\b|\b(?:affiliate|referral)\s+(?:link|code|id|tag)|[?&](?:ref|aff|affid|tag|utm_source)=[\w-]+/i,
    message: 'It may serve its publisher more than you: it promotes something.',
  },
  {
    rule: 'stays-on',
    level: 'danger',
    pattern:
      /\bcrontab\b(?!\.guru)\s*(?:-|<|\|)|\|\s*crontab\b|\/etc\/cron|systemctl\s+(?:--user\s+)?enable|launchctl\s+(?:load|bootstrap)|LaunchAgents\/|\bschtasks\b[^\n]*\/create|CurrentVersion\\+Run\b|(?:(?<!\becho\s+["']export\s+\w{1,60}_KEY=["']?[\w.-]{0,100}["']{0,2}\s*>?)>>?|tee(?:\s+-a)?|open\()\s*["']?(?:~|\$HOME|\$\{HOME\}|\/home\/\w+|\/root)\/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|xinitrc|config\/autostart)|authorized_keys|\.git\/hooks\//i,
    message: 'It installs something that keeps running, or opens a way in for later.',
  },
  {
    rule: 'writes-a-key',
    level: 'warning',
    pattern: /\becho\s+["']export\s+\w{1,60}_KEY=["']?[\w.-]{0,100}["']{0,2}\s*>>?\s*\S*\.(?:bashrc|zshrc|profile|bash_profile|zprofile)\b/,
    message: 'It writes a key into a file that every program of yours can read.',
  },
  {
    rule: 'destroys',
    level: 'danger',
    pattern:
      /\brm\s+(?:-\w+\s+)*-\w*[rf]\w*\s+(?:-\w+\s+)*["']?(?:\/(?:\s|$|\*|["'])|~(?!\/\.cache\/\w(?!\S*\.\.))|\$HOME|\$\{HOME\}|\/(?:home|etc|usr|var)\b(?!\/lib\/apt\/lists\/(?!\S*\.\.)))|\bmkfs(?:\.\w+)?\s|\bdd\b[^\n]*\bof=\/dev\/|shutil\.rmtree\(\s*(?:Path\.home|os\.path\.expanduser|["']\/["'])|:\(\)\s*\{\s*:\|:&\s*\}|\bformat\s+c:|Remove-Item[^\n]*-Recurse[^\n]*(?:\$HOME|C:\\)|\bshred\b[^\n]*\s\//i,
    message: 'It deletes or overwrites far more than its own files.',
  },
  {
    rule: 'mines',
    level: 'danger',
    pattern: /\bxmrig\b|stratum\+(?:tcp|ssl)|\b(?:minerd|cpuminer|cryptonight|randomx|nicehash)\b/i,
    message: 'It uses this computer to mine coins.',
  },
  {
    rule: 'more-rights',
    level: 'warning',
    pattern:
      /(?:^|[\s;&|`(])sudo\s|\bchmod\s+(?:-\w+\s+)*(?:[0-7]?[0-7]?777|[ugoa]*\+s|[4267][0-7]{3})\b|\bsetuid\b|\bdoas\s|Set-ExecutionPolicy/i,
    message: 'It wants more rights than you have given it.',
  },
  {
    rule: 'installs-programs',
    level: 'warning',
    pattern:
      /\b(?:npm|pnpm|yarn|bun)\s+(?:i|install|add|global)\b|\bnpx\s|\bbunx\s|\buvx\s|\bpipx?3?\s+install\b|\buv\s+(?:tool|pip)\s+install\b|\bbrew\s+install\b|\b(?:apt|apt-get|dnf|yum|pacman|apk)\s+(?:-\w+\s+)*(?:install|add|-S)\b|\bgo\s+install\b|\bcargo\s+install\b|\bgem\s+install\b|\b(?:winget|choco|scoop)\s+install\b/i,
    message: 'It installs or starts programs from the network.',
  },
  {
    rule: 'runs-made-code',
    level: 'warning',
    pattern:
      /(?<![.\w])(?:eval|exec)\s*\(|new Function\s*\(|__import__\s*\(|\bcompile\s*\([^\n]*exec|marshal\.loads|pickle\.loads?\(|vm\.runIn|importlib\.import_module\(|\bctypes\b/,
    message: 'It runs code that it makes or loads while it runs.',
  },
  {
    rule: 'starts-programs',
    level: 'note',
    pattern: /\bsubprocess\b|\bos\.(?:system|popen|exec\w*)\(|\bchild_process\b|\bexecSync\(|\bspawn\(|Start-Process/,
    message: 'Its scripts start other programs.',
  },
  {
    rule: 'encoded-run',
    level: 'warning',
    pattern:
      /(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{4}){48,}={0,2}(?![A-Za-z0-9+/=])|(?:\\x[0-9a-f]{2}){16,}|(?:\\u00[0-9a-f]{2}){12,}|(?:&#x?[0-9a-f]{2,4};){8,}|(?:%[0-9a-f]{2}){16,}|String\.fromCharCode\((?:\s*\d+\s*,){7,}|(?:chr\(\d+\)\s*[+.]\s*){6,}/i,
    message: 'A long encoded text hides what it says.',
  },
  {
    rule: 'bare-address',
    level: 'warning',
    pattern:
      /https?:\/\/(?!127\.|0\.0\.0\.0|10\.|192\.168\.)(?:\d{1,3}\.){3}\d{1,3}\b|https?:\/\/(?:0x[0-9a-f]+|\d{8,10})\b|https?:\/\/[^\s/)"']*xn--|\b(?:bit\.ly|tinyurl\.com|t\.co|is\.gd|goo\.gl|rb\.gy|cutt\.ly)\//i,
    message: 'An address that does not name its owner.',
  },
  {
    rule: 'plain-http',
    level: 'note',
    pattern: /http:\/\/(?!localhost|127\.|\[::1\]|0\.0\.0\.0|www\.w3\.org|schemas?\.|example\.)/i,
    message: 'It talks without encryption.',
  },
];
