// Keys and tokens with a provider-specific form, one line each: name, trigger, the rest of the form. Precision matters most: no rule
// matches git hashes, UUIDs or integrity hashes.

import {
  escapeRegExp,
  everyWay,
  hasEveryKind,
  lettersAndDigits,
  looksRandom,
  rankOfProvider,
  wordStart,
  type PatternRule,
} from './pattern-rule.ts';

type Row = readonly [name: string, triggers: string | readonly string[], rest: string, accept?: (secret: string) => boolean];

/** Does not match in the middle of a base64url run. Such runs are long, and a run full of prefixes would be read again for each of them. */
const JOSE_START = String.raw`(?<!(?<!\\|%[0-9A-Fa-f])[A-Za-z0-9_-]eyJ)`;
const END = '(?![A-Za-z0-9])';

const rows: readonly Row[] = [
  ['anthropic-key', 'sk-ant-', '[A-Za-z0-9_-]{20,300}'],
  ['openrouter-key', 'sk-or-', '(?:v1-)?[A-Za-z0-9_-]{20,200}'],
  ['openai-key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sess-'], '[A-Za-z0-9_-]{20,300}', looksRandom],
  ['api-key', 'sk-', '(?!ant-|or-|proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,300}', looksRandom],
  ['xai-key', 'xai-', '[A-Za-z0-9]{40,120}'],
  ['google-api-key', 'AIza', `[A-Za-z0-9_-]{35}${END}`],
  ['google-oauth-token', 'ya29.', '[A-Za-z0-9_-]{20,2000}'],
  ['google-client-secret', 'GOCSPX-', '[A-Za-z0-9_-]{20,60}'],
  ['groq-key', 'gsk_', '[A-Za-z0-9]{40,80}'],
  ['perplexity-key', 'pplx-', '[A-Za-z0-9]{32,80}'],
  ['huggingface-token', 'hf_', '[A-Za-z0-9]{30,50}'],
  ['replicate-token', 'r8_', '[A-Za-z0-9]{30,50}'],
  ['cerebras-key', 'csk-', '[a-z0-9]{40,80}'],
  ['tavily-key', 'tvly-', '[A-Za-z0-9-]{20,60}'],
  ['langfuse-key', ['sk-lf-', 'pk-lf-'], '[0-9a-f-]{36}'],
  ['aws-access-key-id', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], `[A-Z0-9]{16}${END}`],
  ['github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], '[A-Za-z0-9]{36,255}'],
  // Tokens of installations and users that contain their claims.
  ['github-token', ['ghs_', 'ghu_'], '(?=[A-Za-z0-9_]{0,40}eyJ)[A-Za-z0-9_.-]{60,2000}'],
  ['github-token', 'github_pat_', '[A-Za-z0-9_]{22,255}'],
  ['gitlab-token', ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glft-', 'glrtr-'], '[A-Za-z0-9_.-]{20,300}'],
  ['slack-token', ['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'], '[A-Za-z0-9.-]{10,300}', looksRandom],
  ['slack-token', 'xapp-', '[0-9]-[A-Za-z0-9-]{20,300}'],
  ['slack-token', ['xoxc-', 'xoxd-'], '[A-Za-z0-9%+/=_-]{40,400}'],
  ['slack-webhook', 'hooks.slack.com/', '(?:services|workflows|triggers)/[A-Za-z0-9_+/-]{20,200}'],
  ['stripe-key', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_org_live_', 'sk_org_test_'], '[A-Za-z0-9]{16,250}'],
  ['stripe-webhook-secret', 'whsec_', '[A-Za-z0-9+/=]{24,100}'],
  ['discord-webhook', ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'], '[0-9]{15,22}/[A-Za-z0-9_-]{40,100}'],
  ['npm-token', 'npm_', `[A-Za-z0-9]{36}${END}`],
  ['pypi-token', 'pypi-AgE', '[A-Za-z0-9_-]{40,300}'],
  ['jwt', 'eyJ', String.raw`${JOSE_START}[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}`],
  [
    'jwe',
    'eyJ',
    String.raw`${JOSE_START}[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{22}`,
  ],
  ['age-key', ['AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-PQ-1'], '[0-9A-Z]{40,100}'],
  ['azure-storage-key', ['AccountKey=', 'accountkey='], String.raw`[A-Za-z0-9+/]{40,100}={0,2}`],
  ['azure-shared-key', ['SharedAccessKey=', 'sharedaccesskey='], String.raw`[A-Za-z0-9+/]{40,100}={0,2}`],
  ['azure-signature', ['?sig=', '&sig='], '[A-Za-z0-9%+/=_-]{40,120}'],
  ['twilio-key', everyWay(['SK', 'AC'], '0123456789abcdef'), `[0-9a-f]{31}${END}`],
  ['sendgrid-key', 'SG.', String.raw`[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`],
  ['mailgun-key', 'key-', `[0-9a-f]{32}${END}`],
  ['shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], '[0-9a-fA-F]{32}'],
  ['digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], '[0-9a-f]{64}'],
  ['linear-key', 'lin_api_', '[A-Za-z0-9]{32,64}'],
  ['notion-token', 'ntn_', '[A-Za-z0-9]{40,60}'],
  ['databricks-token', 'dapi', `[0-9a-f]{32}(?:-[0-9])?${END}`],
  ['vault-token', ['hvs.', 'hvb.', 'hvr.'], '[A-Za-z0-9_-]{20,300}'],
  ['postman-key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}'],
  ['figma-token', ['figd_', 'figu_'], '[A-Za-z0-9_-]{30,60}'],
  ['atlassian-token', ['ATATT3', 'ATCTT3'], '[A-Za-z0-9_=-]{40,300}'],
  ['dropbox-token', 'sl.', '(?:u\\.)?[A-Za-z0-9_-]{100,2000}'],
  ['square-token', ['sq0atp-', 'sq0csp-', 'EAAA'], '[A-Za-z0-9_-]{22,64}', looksRandom],
  [
    'doppler-token',
    ['dp.pt.', 'dp.ct.', 'dp.sa.', 'dp.st.', 'dp.scim.', 'dp.audit.'],
    String.raw`(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,50}`,
  ],
  ['sentry-token', ['sntrys_', 'sntryu_'], '[A-Za-z0-9_=+/-]{40,400}'],
  ['grafana-token', ['glsa_', 'glc_'], '[A-Za-z0-9_+/=-]{30,300}'],
  ['planetscale-token', ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], '[A-Za-z0-9_.-]{32,64}'],
  ['supabase-token', ['sbp_', 'sb_secret_'], '[A-Za-z0-9_]{20,80}', looksRandom],
  ['cloudflare-token', ['cfut_', 'cfat_', 'cfk_'], '[A-Za-z0-9_-]{30,80}'],
  ['nvidia-key', 'nvapi-', '[A-Za-z0-9_-]{40,100}'],
  ['onepassword-token', 'ops_eyJ', '[A-Za-z0-9+/=_-]{100,2000}'],
  ['aws-session-token', ['IQoJb3JpZ2lu', 'FwoGZXIvYXdz'], '[A-Za-z0-9+/=]{100,2000}'],
  ['aws-bedrock-key', 'ABSKQmVkcm9ja0FQSUtleS', '[A-Za-z0-9+/=]{80,200}'],
  ['aws-mws-token', 'amzn.mws.', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['docker-token', ['dckr_pat_', 'dckr_oat_'], '[A-Za-z0-9_-]{24,40}'],
  ['heroku-key', 'HRKU-', '[A-Za-z0-9_-]{36,80}'],
  ['cloudflare-origin-key', 'v1.0-', '[0-9a-f]{24}-[0-9a-f]{140,150}'],
  ['paypal-token', 'access_token$', String.raw`(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`],
  ['paypal-token', 'A21AA', '[A-Za-z0-9_-]{80,120}'],
  ['notion-token', 'secret_', `[A-Za-z0-9]{43}${END}`, looksRandom],
  ['linear-key', 'lin_oauth_', '[0-9a-f]{64}'],
  ['gitlab-token', ['glagent-', 'glimt-', 'GR1348941', 'gloas-', 'glffct-', 'glwt-'], '[A-Za-z0-9_-]{20,80}'],
  ['slack-token', 'xoxe.xox', '[bp]-[0-9]-[A-Za-z0-9]{100,300}'],
  ['huggingface-token', 'api_org_', `[A-Za-z]{34}${END}`],
  ['newrelic-key', ['NRAK-', 'NRJS-', 'NRII-'], '[A-Za-z0-9_-]{19,40}'],
  ['rubygems-key', 'rubygems_', '[0-9a-f]{48}'],
  ['clojars-token', 'CLOJARS_', '[0-9a-f]{60}'],
  ['nuget-key', 'oy2', `[a-z0-9]{43}${END}`],
  ['brevo-key', ['xkeysib-', 'xsmtpsib-'], '[0-9a-f]{64}-[A-Za-z0-9]{16}'],
  ['mapbox-token', 'sk.eyJ', String.raw`[A-Za-z0-9_-]{40,400}\.[A-Za-z0-9_-]{20,40}`],
  ['terraform-token', '.atlasv1.', '[A-Za-z0-9_=-]{60,70}'],
  ['dynatrace-token', 'dt0c01.', String.raw`[A-Z0-9]{24}\.[A-Z0-9]{64}`],
  ['contentful-token', 'CFPAT-', '[A-Za-z0-9_-]{40,60}'],
  ['plaid-token', ['access-production-', 'access-sandbox-'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['pinecone-key', 'pcsk_', '[A-Za-z0-9_]{40,90}', looksRandom],
  ['artifactory-token', ['AKCp', 'cmVmdGtu'], `[A-Za-z0-9]{56,80}${END}`, looksRandom],
  ['airtable-token', 'pat', String.raw`[A-Za-z0-9]{14}\.[0-9a-f]{64}`],
  ['easypost-key', ['EZAK', 'EZTK'], `[A-Za-z0-9]{54}${END}`],
  ['together-key', 'tgp_v1_', '[A-Za-z0-9_-]{40,60}'],
  ['fireworks-key', 'fw_', `[A-Za-z0-9]{22,24}${END}`, hasEveryKind],
  ['elevenlabs-key', 'sk_', `[0-9a-f]{48}${END}`],
  ['api-key', 'sk_', '(?!live_|test_|org_)[A-Za-z0-9_-]{40,100}', hasEveryKind],
  ['google-api-key', 'AQ.Ab8', '[A-Za-z0-9_-]{40,80}'],
  ['google-refresh-token', '1//0', '[A-Za-z0-9_-]{40,200}', hasEveryKind],
  ['voyage-key', 'pa-', `[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['jina-key', 'jina_', '[0-9a-f]{32}[A-Za-z0-9_-]{20,40}'],
  ['langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], '[0-9a-f]{32}_[0-9a-f]{10}'],
  ['firecrawl-key', 'fc-', `[0-9a-f]{32}${END}`],
  ['brave-key', 'BSA', `[A-Za-z0-9_-]{24,30}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['e2b-key', 'e2b_', `[0-9a-f]{40}${END}`],
  ['modal-token', ['ak-', 'as-'], `[A-Za-z0-9]{22}${END}`, hasEveryKind],
  ['runpod-key', 'rpa_', '[A-Z0-9]{40,60}'],
  ['lambda-key', 'secret_', String.raw`[a-z0-9-]{1,40}_[0-9a-f]{32}\.[A-Za-z0-9]{32}`],
  ['bitbucket-token', 'ATBB', `[A-Za-z0-9]{32}${END}`],
  ['sourcegraph-token', 'sgp_', `(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}${END}`],
  ['fly-token', ['fm1a_', 'fm1r_', 'fm2_', 'fo1_'], '[A-Za-z0-9+/=,_-]{40,4000}'],
  ['vercel-token', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], `[A-Za-z0-9]{24,60}${END}`, hasEveryKind],
  ['vercel-token', 'vercel_blob_rw_', '[A-Za-z0-9]{10,30}_[A-Za-z0-9]{20,40}'],
  ['netlify-token', ['nfp_', 'nfc_', 'nfo_', 'nfb_', 'nfu_'], '[A-Za-z0-9_]{36,40}'],
  ['render-key', 'rnd_', `[A-Za-z0-9]{28,32}${END}`, hasEveryKind],
  ['neon-key', 'napi_', `[a-z0-9]{60,70}${END}`],
  ['nostr-key', 'nsec1', `[02-9ac-hj-np-z]{58}${END}`],
  ['wallet-key', ['xprv', 'yprv', 'zprv', 'tprv'], `[1-9A-HJ-NP-Za-km-z]{100,110}${END}`],
  ['teams-webhook', 'webhook.office.com/webhookb2/', '[0-9a-f@-]{60,90}/IncomingWebhook/[0-9A-Za-z/-]{32,120}'],
  ['zapier-webhook', 'hooks.zapier.com/hooks/catch/', '[0-9]{4,12}/[a-z0-9]{6,20}'],
  ['ifttt-webhook', 'maker.ifttt.com/trigger/', '[A-Za-z0-9_-]{1,80}/(?:json/)?with/key/[A-Za-z0-9_-]{20,60}'],
  ['matrix-token', 'syt_', '[A-Za-z0-9+/=]{2,120}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}'],
  ['twitch-token', 'oauth:', `[a-z0-9]{30}${END}`, looksRandom],
  ['paddle-key', ['pdl_live_apikey_', 'pdl_sdbx_apikey_'], '[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}'],
  ['payment-key', 'live_', `(?<!pk_live_)(?:[A-Za-z0-9]{30}|[0-9a-f]{35})${END}`, looksRandom],
  ['payment-key', ['shippo_live_', 'shippo_test_', 'duffel_live_', 'duffel_test_'], '[A-Za-z0-9_-]{40,43}'],
  ['flutterwave-key', ['FLWSECK-', 'FLWSECK_TEST-'], '[0-9a-zA-Z]{12,40}-X'],
  ['polar-token', ['polar_oat_', 'polar_pat_'], '[A-Za-z0-9_-]{30,60}'],
  ['resend-key', 're_', `[A-Za-z0-9]{8}_[A-Za-z0-9]{24}${END}`, looksRandom],
  ['mailersend-key', 'mlsn.', '[0-9a-f]{64}'],
  ['datadog-key', ['ddapp_', 'ddpat_'], '[A-Za-z0-9_]{32,80}'],
  ['honeycomb-key', ['hcaik_', 'hcxik_', 'hcalk_', 'hcxlk_', 'hcamk_'], '[a-z0-9]{40,64}'],
  ['posthog-key', ['phx_', 'phs_'], `[A-Za-z0-9]{40,50}${END}`],
  ['sonar-token', ['squ_', 'sqp_', 'sqa_', 'sqb_'], `[0-9a-f]{40}${END}`],
  ['circleci-token', ['CCIPAT_', 'CCIPRJ_'], '[A-Za-z0-9]{20,24}_[0-9a-f]{40}'],
  ['buildkite-token', ['bkua_', 'bkat_', 'bkct_'], '[0-9a-zA-Z_-]{40,80}'],
  ['pulumi-token', 'pul-', `[0-9a-f]{40}${END}`],
  ['infisical-token', 'st.', String.raw`[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}`],
  ['onepassword-key', 'A3-', '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}'],
  ['tailscale-key', ['tskey-auth-', 'tskey-api-', 'tskey-client-', 'tskey-scim-', 'tskey-webhook-'], '[A-Za-z0-9-]{16,80}'],
  ['cloudflared-token', 'eyJhIjoi', '[A-Za-z0-9+/=_-]{100,400}', isTunnelToken],
  ['hubspot-token', ['pat-na1-', 'pat-na2-', 'pat-eu1-', 'pat-ap1-'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['salesforce-token', '00D', '[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,200}'],
  ['asana-token', everyWay('012', '/', '0123456789'), String.raw`[0-9]{14,17}(?:/[0-9]{15,18})?:[0-9a-f]{32}`],
  ['clickup-token', 'pk_', `[0-9]{7,9}_[A-Z0-9]{32}${END}`],
  ['typeform-token', 'tfp_', '[A-Za-z0-9_.-]{40,70}'],
  ['facebook-token', 'EAA', `[A-Za-z0-9]{100,400}${END}`, hasEveryKind],
  ['instagram-token', 'IGQ', '[A-Za-z0-9_-]{100,300}'],
  ['twitter-bearer', 'AAAAAAAAAAAAAAAAAAAA', 'A{0,4}[A-Za-z0-9]{10,100}%[23][A-Z][A-Za-z0-9%]{20,100}'],
  ['linkedin-secret', 'WPL_AP1.', '[A-Za-z0-9_.=-]{20,40}'],
  ['firebase-key', ':APA91b', '[A-Za-z0-9_-]{100,200}'],
  ['crates-token', 'cio', `[A-Za-z0-9]{32}${END}`, hasEveryKind],
  ['launchdarkly-key', ['sdk-', 'api-'], `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}${END}`],
  ['readme-key', 'rdme_', '[a-z0-9]{60,80}'],
  ['prefect-key', ['pnu_', 'pnb_'], `[A-Za-z0-9]{36}${END}`],
  ['scalingo-token', 'tk-us-', '[A-Za-z0-9_-]{48}'],
  ['frameio-token', 'fio-u-', '[A-Za-z0-9_=-]{60,64}'],
  ['cursor-key', 'crsr_', '[0-9a-f]{64}'],
  ['kaggle-token', 'KGAT_', `[0-9a-f]{32}${END}`],
  ['wandb-key', 'wandb_v1_', '[A-Za-z0-9_-]{40,120}'],
  ['apify-token', 'apify_api_', '[A-Za-z0-9]{36,50}'],
  ['amp-token', 'sgamp_user_', '[A-Z0-9]{20,30}_[0-9a-f]{64}'],
  ['daytona-key', 'dtn_', `[0-9a-f]{64}${END}`],
  ['browserbase-key', 'bb_live_', `[A-Za-z0-9_-]{24,40}${END}`, hasEveryKind],
  ['steel-key', 'ste-', '[A-Za-z0-9]{60,120}'],
  ['mem0-key', 'm0-', `[A-Za-z0-9]{40}${END}`, hasEveryKind],
  ['context7-key', 'ctx7sk-', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['warp-key', 'wk-1.', '[0-9a-f]{64}'],
  ['jetbrains-token', ['perm:', 'perm-'], String.raw`[A-Za-z0-9=_-]{8,80}\.[A-Za-z0-9=_-]{4,80}\.[A-Za-z0-9=_-]{20,80}`, looksRandom],
  ['aws-bedrock-key', 'bedrock-api-key-', '[A-Za-z0-9+/=]{100,4000}'],
  ['logfire-token', ['pylf_v1_us_', 'pylf_v1_eu_'], '[A-Za-z0-9]{40,60}'],
  ['deno-token', ['ddo_', 'ddp_'], `[A-Za-z0-9]{36}${END}`],
  ['trigger-token', ['tr_prod_', 'tr_dev_', 'tr_stg_', 'tr_pat_'], `[A-Za-z0-9]{20,48}${END}`, looksRandom],
  ['inngest-key', ['signkey-prod-', 'signkey-test-', 'signkey-branch-'], '[0-9a-f]{32,64}'],
  ['shopify-token', 'shptka_', '[0-9a-fA-F]{32}'],
  ['socket-key', 'sktsec_', '[A-Za-z0-9_-]{30,80}'],
  ['snyk-token', 'snyk_uat.', String.raw`[A-Za-z0-9]{8}\.[A-Za-z0-9._-]{30,200}`],
  ['atlassian-token', 'ATSTT3', '[A-Za-z0-9_=-]{40,300}'],
  ['elastic-key', 'essu_', '[A-Za-z0-9+/=]{40,200}'],
  ['plain-key', 'plainApiKey_', '[A-Za-z0-9_-]{20,80}'],
  ['octopus-key', 'API-', `[A-Z0-9]{25,30}${END}`, looksRandom],
  ['stytch-secret', ['secret-live-', 'secret-test-'], '[A-Za-z0-9_-]{30,40}=?', hasEveryKind],
  ['cal-key', 'cal_live_', `[0-9a-f]{32}${END}`],
  ['nylas-key', 'nyk_v0_', '[A-Za-z0-9]{50,80}'],
  ['tinybird-token', 'p.eyJ', String.raw`[A-Za-z0-9_-]{40,400}\.[A-Za-z0-9_-]{20,80}`],
  ['harness-token', 'pat.', String.raw`[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}`],
  ['jsr-token', 'jsrp_', '[A-Za-z0-9]{36,60}'],
  ['cursor-key', 'key_', `(?:[0-9a-f]{64}|[0-9a-f]{28})${END}`, looksRandom],
  ['telnyx-key', 'KEY', `[0-9A-F]{32}_[A-Za-z0-9]{22}${END}`],
  ['composio-key', ['ak_', 'uak_'], `[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['browser-use-key', 'bu_', '[A-Za-z0-9_-]{40,50}', hasEveryKind],
  ['confluent-secret', 'cflt', '[A-Za-z0-9+/]{60}', hasEveryKind],
  ['nebius-token', 'v1.CmMK', '[A-Za-z0-9_.-]{100,400}'],
  ['yandex-key', 'AQVN', `[A-Za-z0-9_-]{35,38}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['yandex-token', 't1.', String.raw`[A-Za-z0-9_=-]{40,300}\.[A-Za-z0-9_-]{86}`],
  ['yandex-key', 'YCAJE', `[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['yandex-key', ['YCM', 'YCN', 'YCO', 'YCP'], `[A-Za-z0-9_-]{37}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['vault-token', everyWay(['s.'], lettersAndDigits), '[A-Za-z0-9]{23}(?![A-Za-z0-9.(_-])', hasEveryKind],
  ['tencent-key', 'AKID', `[A-Za-z0-9]{32}${END}`, hasEveryKind],
  ['alibaba-key', 'LTAI', `5t[A-Za-z0-9]{18}${END}`],
  ['volcengine-key', 'AKLT', `[A-Za-z0-9]{40,48}={0,2}${END}`, hasEveryKind],
  ['baidu-key', 'bce-v3/ALTAK-', '[A-Za-z0-9]{21}/[0-9a-f]{40}'],
  ['zep-key', 'z_1dWlkI', String.raw`[A-Za-z0-9_-]{20,100}\.[A-Za-z0-9_-]{20,120}`],
  ['v0-key', 'v1:', `[A-Za-z0-9]{24}:[A-Za-z0-9]{24}${END}`, hasEveryKind],
  ['rpc-key', ['infura.io/v3/', 'infura.io/ws/v3/', 'quiknode.pro/'], `[0-9a-f]{32,40}${END}`],
  ['rpc-key', 'alchemy.com/v2/', '[A-Za-z0-9_-]{32,40}'],
  ['ntfy-token', 'tk_', `[a-z0-9]{29}${END}`, looksRandom],
  ['trello-token', 'ATTA', `[0-9a-fA-F]{64,76}${END}`],
  ['segment-token', 'sgp_', `[A-Za-z0-9]{64}${END}`, hasEveryKind],
  ['statsig-key', 'secret-', `[A-Za-z0-9]{43}${END}`, hasEveryKind],
  ['woocommerce-key', ['ck_', 'cs_'], `[0-9a-f]{40}${END}`],
  ['sumup-key', ['sup_sk_', 'sup_at_'], '[A-Za-z0-9]{30,60}'],
  ['gocardless-token', 'live_', `[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])`, hasEveryKind],
  ['klaviyo-key', 'pk_', `[0-9a-f]{34}${END}`],
  ['intercom-token', 'dG9rO', '[A-Za-z0-9+/]{52,60}={0,2}'],
  ['adyen-key', 'AQE', '[A-Za-z0-9+/]{60,250}={0,2}-[A-Za-z0-9+/]{40,60}={0,2}-[^\\s"\']{10,24}'],
  ['cockroach-key', 'CCDB1_', '[A-Za-z0-9]{20,24}_[A-Za-z0-9]{30,50}'],
  ['luma-key', 'luma-', '[0-9a-f-]{36}(?:-[0-9a-f-]{36})?', looksRandom],
  ['cartesia-key', 'sk_car_', '[A-Za-z0-9_-]{20,40}'],
  ['agentmail-key', ['am_', 'am_us_'], `[0-9a-f]{64}${END}`],
  ['letta-key', 'sk-let-', '[A-Za-z0-9+/=]{40,200}'],
  ['api-key', 'sk_', `[0-9a-f]{32}${END}`],
  ['unkey-key', 'unkey_', '[A-Za-z0-9]{20,40}'],
  ['convex-key', ['prod:', 'dev:', 'preview:'], '[a-z0-9:-]{5,80}[|][A-Za-z0-9+/=_-]{40,400}'],
  ['depot-token', ['depot_org_', 'depot_project_', 'depot_user_'], '[A-Za-z0-9]{40,80}'],
  ['sourcegraph-token', ['slk_', 'sgd_'], `[0-9a-f]{64}${END}`],
  ['upcloud-token', 'ucat_', `[A-Z0-9]{26}${END}`],
  ['backblaze-key', ['K001', 'K002', 'K003', 'K004', 'K005'], `[A-Za-z0-9/+]{27}(?![A-Za-z0-9/+=])`, hasEveryKind],
  ['dbt-token', ['dbtc_', 'dbtu_', 'dbts_'], '[A-Za-z0-9_-]{32,80}', hasEveryKind],
  ['aiven-password', 'AVNS_', '[A-Za-z0-9_-]{15,25}', hasEveryKind],
  ['chromatic-token', 'chpt_', `[0-9a-f]{12,40}${END}`],
  ['openshift-token', 'sha256~', '[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])', hasEveryKind],
  ['zoho-token', '1000.', String.raw`[0-9a-f]{32}\.[0-9a-f]{32}`],
  ['vk-token', 'vk1.a.', '[A-Za-z0-9_-]{80,400}'],
  ['pinterest-token', ['pina_', 'pinr.'], '[A-Za-z0-9_.-]{40,400}', hasEveryKind],
  ['adobe-secret', 'p8e-', '[A-Za-z0-9_-]{32}(?![A-Za-z0-9_-])', hasEveryKind],
  ['onesignal-key', ['os_v2_app_', 'os_v2_org_'], '[a-z0-9]{80,120}'],
  ['xata-key', 'xau_', `[A-Za-z0-9]{38,44}${END}`],
  ['apollo-key', ['user:fh.', 'service:'], '(?:[A-Za-z0-9_-]{2,60}:)?[A-Za-z0-9_-]{22,40}(?![A-Za-z0-9_-])', hasEveryKind],
  ['retool-token', 'retool_01', `[a-z0-9]{20,60}${END}`],
  ['zuplo-key', 'zpka_', '[0-9a-f]{32}_[0-9a-f]{8}'],
  ['percy-token', ['web_', 'app_'], `[0-9a-f]{64}${END}`],
  ['minisign-key', 'RWRTY0Iy', '[A-Za-z0-9+/]{150,250}={0,2}'],
  ['password-hash', ['$2a$', '$2b$', '$2y$'], '[0-9]{2}[$][A-Za-z0-9./]{53}'],
  ['password-hash', ['$1$', '$5$', '$6$', '$apr1$'], '(?:rounds=[0-9]{1,9}[$])?[A-Za-z0-9./]{1,16}[$][A-Za-z0-9./]{22,86}'],
  ['password-hash', ['$y$', '$gy$', '$7$'], '[A-Za-z0-9./]{1,20}[$][A-Za-z0-9./]{1,86}[$][A-Za-z0-9./]{43}'],
  [
    'password-hash',
    ['$argon2id$', '$argon2i$', '$argon2d$'],
    '(?:v=[0-9]{1,3}[$])?m=[0-9]+,t=[0-9]+,p=[0-9]+[$][A-Za-z0-9+/]{8,88}[$][A-Za-z0-9+/]{20,88}',
  ],
];

/** A token continues while these characters follow. */
const tokenReach = String.raw`[A-Za-z0-9_.~+/=%:?&$@!,-]*`;

export function createProviderRules(): PatternRule[] {
  const rules = rows.map(([name, triggers, rest, accept]): PatternRule => {
    const literals = typeof triggers === 'string' ? [triggers] : triggers;
    const start = /^[A-Za-z]/.test(literals[0] ?? '') ? wordStart : '';
    const pattern = new RegExp(`${start}(?:${literals.map(escapeRegExp).join('|')})${rest}`, 'y');
    return { ...tokenRule(name, literals, pattern), ...(accept === undefined ? {} : { accept }) };
  });
  return [...rules, telegramRule(), discordRule(), azureClientRule(), azureServiceRule(), mailchimpRule(), ...suffixedRules()];
}

function tokenRule(name: string, triggers: readonly string[], pattern: RegExp): PatternRule {
  return { name, triggers, pattern, reach: new RegExp(tokenReach, 'y'), rank: rankOfProvider };
}

/** Bot id, colon, 35 characters (https://core.telegram.org/bots/api#authorizing-your-bot). */
function telegramRule(): PatternRule {
  const pattern = /(?<!\d)\d{6,12}:[A-Za-z0-9_-]{34,36}(?![A-Za-z0-9_-])/y;
  return {
    ...tokenRule('telegram-token', everyWay('0123456789', ':', `${lettersAndDigits}_-`), pattern),
    before: /\d{0,12}$/,
    accept: (secret) => /[A-Z]/.test(secret) && /[a-z]/.test(secret),
  };
}

/** A bot token begins with its user id, decimal digits in base64, which limits the choices for the first four characters. */
function discordRule(): PatternRule {
  const rest = String.raw`[w-z0-5][A-Za-z0-9]{18,26}\.[A-Za-z0-9_-]{5,7}\.[A-Za-z0-9_-]{26,40}`;
  const pattern = new RegExp(`${wordStart}[MNO][DTjz][AEIMQUYcgk]${rest}`, 'y');
  return tokenRule('discord-token', everyWay('MNO', 'DTjz', 'AEIMQUYcgk'), pattern);
}

function azureClientRule(): PatternRule {
  const triggers = everyWay('0123456789', ['Q~']);
  const pattern = /[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/y;
  return { ...tokenRule('azure-client-secret', triggers, pattern), before: /[A-Za-z0-9_~.-]{0,3}$/ };
}

/** Keys of Azure's services say in their last characters whose they are. */
function azureServiceRule(): PatternRule {
  const triggers = ['JQQJ99', 'AzSeA', 'AzFu', 'AzCa', '+ASt', '+ABa', '+ASb', '+AEh', '+ARm', '+ACR', 'ACDb', 'APIM', 'AIoT', 'AZDO'];
  const before = '[A-Za-z0-9+/_-]{33,76}';
  const pattern = new RegExp(`${before}(?:${triggers.map(escapeRegExp).join('|')})[A-Za-z0-9+/_-]{4,30}={0,2}(?![A-Za-z0-9+/_-])`, 'y');
  return { ...tokenRule('azure-key', triggers, pattern), before: new RegExp(`${before}$`), accept: hasEveryKind };
}

/** A key ends in the name of its data centre. */
function mailchimpRule(): PatternRule {
  return { ...tokenRule('mailchimp-key', ['-us'], /(?<![0-9a-f])[0-9a-f]{32}-us[0-9]{1,2}(?![0-9a-z])/y), before: /[0-9a-f]{32}$/ };
}

/** Keys that a later part tells from a digest. */
function suffixedRules(): PatternRule[] {
  const hexDigits = '0123456789abcdef';
  const mailgun = /(?<![0-9a-f])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-z-])/y;
  const newRelic = /(?<![0-9A-Za-z])(?:[0-9a-f]{6}|[a-z]{2}01xx)[0-9a-f]{30}NRAL(?![0-9A-Za-z])/y;
  return [
    { ...tokenRule('mailgun-key', everyWay(hexDigits, '-', hexDigits), mailgun), before: /[0-9a-f]{31}$/ },
    { ...tokenRule('newrelic-key', ['NRAL'], newRelic), before: /[0-9a-z]{36}$/ },
  ];
}

/** Returns whether the text is JSON with an account, a tunnel and its secret. */
function isTunnelToken(secret: string): boolean {
  return /^\{"a":"[^"]+","t":"[^"]+","s":"/.test(Buffer.from(secret, 'base64').toString('latin1'));
}
