import { type Alphabet, IN } from './alphabets.ts';

/**
 * What credentials look like, one row per kind, from the formats that their issuers publish. A row begins with a text that
 * hardly anything else begins with; where the credential alone could be anything (a run of hexadecimal digits), the row wants
 * the name before it. What tells nothing by itself is in no row: digests, trace ids, UUIDs and run ids stay readable.
 */
export interface CredentialShape {
  /** For people: how the rejection of a definition names it. */
  readonly name: string;
  /** Any of these; a letter or digit at the start must not stand behind another one. */
  readonly begins: readonly string[];
  /** `begins` is in lower case and stands for every case. */
  readonly anyCase?: true;
  /** Stands directly before `begins`. */
  readonly behind?: Run;
  /** What follows, part by part. */
  readonly parts: readonly Part[];
  /** Which part of `parts` is hidden; by default the whole. */
  readonly hides?: number;
}

export type Part = string | Run | Form;

/** As many characters of the alphabet as there are; more than `max` is something else. */
export interface Run {
  /** One of `IN`. */
  readonly of: number;
  readonly min: number;
  readonly max?: number;
  readonly looks?: Looks;
}

/**
 * `random`: has a digit, or is long with letters of both cases. `token`: that, or a dot inside, or longer than any word. `mixed`: has
 * digits and letters of both cases. `assigns`: has one `=` or `:`, and not two.
 */
export type Looks = 'token' | 'random' | 'mixed' | 'assigns';

/** What no run of characters says: see credential-forms.ts. */
export type Form = { readonly form: 'userinfo' | 'basic' | 'privateKey' | 'block' | 'rest' };

const run = (of: Alphabet, min: number, max?: number, looks?: Looks): Run => ({
  of: IN[of],
  min,
  ...(max !== undefined && { max }),
  ...(looks !== undefined && { looks }),
});
const exactly = (of: Alphabet, length: number, looks?: Looks): Run => run(of, length, length, looks);

/** Names after which a value is taken for what the name says. */
const ASSIGNED_NAMES = [
  'api_key',
  'apikey',
  'api-key',
  'access_token',
  'refresh_token',
  'auth_token',
  'authtoken',
  '_authtoken', // of npm
  'client_secret',
  'clientsecret',
  'secret_key',
  'secretkey',
  'secret_access_key',
  'secretaccesskey',
  'session_token',
  'sessiontoken',
  'private_token',
  'app_key',
  'api_token',
];

/** The same inside URLs, where shorter names are common. */
const URL_NAMES = [
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'auth_token',
  'session_token',
  'api_key',
  'apikey',
  'api-key',
  'subscription-key',
  'secret',
  'client_secret',
  'password',
  'passwd',
  'pwd',
  'sig',
  'signature',
  'x-amz-signature',
  'x-amz-security-token',
  'x-goog-signature',
  'jwt',
  'sas',
];

export const CREDENTIAL_SHAPES: readonly CredentialShape[] = [
  { name: 'PGP private key', begins: ['-----BEGIN PGP PRIVATE KEY BLOCK-----'], parts: [{ form: 'block' }] },
  { name: 'private key', begins: ['-----BEGIN '], parts: [{ form: 'privateKey' }] },
  {
    name: 'PuTTY private key',
    begins: ['PuTTY-User-Key-File-'],
    parts: [run('digit', 1, 2), ':', { form: 'rest' }],
  },
  { name: 'age secret key', begins: ['AGE-SECRET-KEY-1'], parts: [run('upperDigit', 50)] },
  {
    name: 'bearer token',
    begins: ['bearer'],
    anyCase: true,
    parts: [run('blank', 1, 8), run('token68', 8, undefined, 'token')],
    hides: 1,
  },
  {
    name: 'basic authorization',
    begins: ['basic'],
    anyCase: true,
    parts: [run('blank', 1, 8), { form: 'basic' }],
    hides: 1,
  },
  {
    name: 'encrypted JSON web token',
    begins: ['eyJ'],
    parts: [
      run('base64url', 5),
      '.',
      run('base64url', 0),
      '.',
      run('base64url', 5),
      '.',
      run('base64url', 5),
      '.',
      run('base64url', 5),
    ],
  },
  {
    name: 'JSON web token',
    begins: ['eyJ'],
    parts: [run('base64url', 5), '.', run('base64url', 5), '.', run('base64url', 5)],
  },
  { name: 'Anthropic key', begins: ['sk-ant-'], parts: [run('base64url', 20)] },
  { name: 'sk- key', begins: ['sk-'], parts: [run('base64url', 20)] },
  { name: 'xAI key', begins: ['xai-'], parts: [run('alnum', 40)] },
  { name: 'Groq key', begins: ['gsk_'], parts: [run('alnum', 40)] },
  { name: 'Perplexity key', begins: ['pplx-'], parts: [run('alnum', 40)] },
  { name: 'Replicate token', begins: ['r8_'], parts: [run('alnum', 30)] },
  { name: 'Hugging Face token', begins: ['hf_', 'api_org_'], parts: [run('alnum', 30)] },
  {
    name: 'AWS access key',
    begins: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    parts: [exactly('upperDigit', 16)],
  },
  {
    name: 'AWS secret key',
    begins: ['aws_secret_access_key', 'secretaccesskey', 'secret_access_key'],
    anyCase: true,
    parts: [run('assignment', 1, 12, 'assigns'), exactly('base64', 40)],
    hides: 1,
  },
  {
    name: 'GitHub token',
    begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    parts: [run('word', 20)],
  },
  {
    name: 'GitLab token',
    begins: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glcbt-',
      'glptt-',
      'glft-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'gloas-',
    ],
    parts: [run('base64url', 20)],
  },
  { name: 'Bitbucket token', begins: ['ATBB'], parts: [run('alnum', 24)] },
  { name: 'Atlassian token', begins: ['ATATT3', 'ATCTT3'], parts: [run('base64url', 50)] },
  {
    name: 'Slack token',
    begins: ['xox'],
    parts: [exactly('lower', 1), '-', run('dashed', 10)],
  },
  { name: 'Slack app token', begins: ['xapp-'], parts: [run('dashed', 20)] },
  {
    name: 'Slack webhook',
    begins: ['hooks.slack.com/'],
    parts: [run('path', 20)],
    hides: 0,
  },
  {
    name: 'Discord webhook',
    begins: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    parts: [run('path', 40)],
    hides: 0,
  },
  { name: 'Teams webhook', begins: ['.webhook.office.com/webhookb2/'], parts: [run('path', 36)], hides: 0 },
  {
    name: 'Discord token',
    begins: ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'],
    parts: [run('alnum', 21, 26), '.', exactly('base64url', 6), '.', run('base64url', 27, 40)],
  },
  {
    name: 'Telegram bot token',
    behind: run('digit', 8, 10),
    begins: [':AA'],
    parts: [run('base64url', 32, 34)],
  },
  { name: 'Google API key', begins: ['AIza'], parts: [run('base64url', 35)] },
  { name: 'Google access token', begins: ['ya29.'], parts: [run('dotted', 20)] },
  { name: 'Google client secret', begins: ['GOCSPX-'], parts: [run('base64url', 24)] },
  { name: 'Google refresh token', begins: ['1//0'], parts: [run('base64url', 35)] },
  {
    name: 'Stripe key',
    begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    parts: [run('alnum', 16)],
  },
  { name: 'webhook signing secret', begins: ['whsec_'], parts: [run('base64', 24)] },
  {
    name: 'Square token',
    begins: ['sq0atp-', 'sq0csp-', 'sq0idp-'],
    parts: [run('base64url', 22)],
  },
  {
    name: 'Shopify token',
    begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    parts: [run('alnum', 32)],
  },
  {
    name: 'Plaid token',
    begins: ['access-sandbox-', 'access-development-', 'access-production-'],
    parts: [run('dashed', 36)],
  },
  {
    name: 'SendGrid key',
    begins: ['SG.'],
    parts: [run('base64url', 16, 32), '.', run('base64url', 32, 64)],
  },
  { name: 'Mailgun key', begins: ['key-'], parts: [exactly('hex', 32)] },
  {
    name: 'Mailchimp key',
    behind: exactly('hex', 32),
    begins: ['-us'],
    parts: [run('digit', 1, 2)],
  },
  { name: 'Brevo key', begins: ['xkeysib-', 'xsmtpsib-'], parts: [run('dashed', 64)] },
  { name: 'Twilio key', begins: ['SK'], parts: [exactly('hex', 32)] },
  { name: 'Twilio account', begins: ['AC'], parts: [exactly('hex', 32)] },
  {
    name: 'Twilio auth token',
    begins: ['twilio_auth_token', 'authtoken', 'auth_token'],
    anyCase: true,
    parts: [run('assignment', 1, 12, 'assigns'), exactly('hex', 32)],
    hides: 1,
  },
  { name: 'npm token', begins: ['npm_'], parts: [run('alnum', 30)] },
  { name: 'PyPI token', begins: ['pypi-AgE'], parts: [run('base64url', 40)] },
  { name: 'RubyGems key', begins: ['rubygems_'], parts: [run('hex', 48)] },
  { name: 'NuGet key', begins: ['oy2'], parts: [exactly('lowerDigit', 43)] },
  { name: 'Docker token', begins: ['dckr_pat_', 'dckr_oat_'], parts: [run('base64url', 20)] },
  { name: 'Vault token', begins: ['hvs.', 'hvb.', 'hvr.'], parts: [run('base64url', 20)] },
  { name: 'old Vault token', begins: ['s.', 'b.', 'r.'], parts: [exactly('alnum', 24, 'mixed')] },
  {
    name: 'Terraform token',
    behind: exactly('alnum', 14),
    begins: ['.atlasv1.'],
    parts: [run('base64url', 60)],
  },
  {
    name: 'Doppler token',
    begins: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    parts: [run('dotted', 40)],
  },
  { name: '1Password token', begins: ['ops_eyJ'], parts: [run('base64url', 60)] },
  { name: 'Pulumi token', begins: ['pul-'], parts: [exactly('hex', 40)] },
  {
    name: 'Azure storage key',
    begins: ['accountkey='],
    anyCase: true,
    parts: [run('base64', 80, 90)],
    hides: 0,
  },
  {
    name: 'Azure access key',
    begins: ['sharedaccesskey=', 'sharedaccesssignature='],
    anyCase: true,
    parts: [run('urlValue', 40)],
    hides: 0,
  },
  {
    name: 'Azure client secret',
    behind: exactly('tilde', 4),
    begins: ['Q~'],
    parts: [run('tilde', 31, 36)],
  },
  { name: 'Databricks token', begins: ['dapi'], parts: [run('hex', 32)] },
  {
    name: 'DigitalOcean token',
    begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    parts: [run('hex', 64)],
  },
  { name: 'Heroku key', begins: ['HRKU-'], parts: [run('base64url', 36)] },
  {
    name: 'Cloudflare origin key',
    begins: ['v1.0-'],
    parts: [exactly('hex', 24), '-', run('hex', 140)],
  },
  { name: 'Fly.io token', begins: ['fo1_', 'fm1_', 'fm2_'], parts: [run('base64', 40)] },
  { name: 'Netlify token', begins: ['nfp_'], parts: [run('alnum', 36)] },
  {
    name: 'PlanetScale token',
    begins: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'],
    parts: [run('dotted', 32)],
  },
  { name: 'Supabase key', begins: ['sbp_', 'sb_secret_'], parts: [run('base64url', 22)] },
  {
    name: 'Tailscale key',
    begins: ['tskey-auth-', 'tskey-api-', 'tskey-client-', 'tskey-scim-', 'tskey-webhook-'],
    parts: [run('dashed', 20)],
  },
  { name: 'Grafana token', begins: ['glsa_', 'glc_'], parts: [run('word', 32)] },
  { name: 'New Relic key', begins: ['NRAK-', 'NRII-', 'NRRA-'], parts: [run('base64url', 27)] },
  { name: 'Sentry token', begins: ['sntrys_', 'sntryu_'], parts: [run('named', 40)] },
  { name: 'Linear key', begins: ['lin_api_', 'lin_oauth_'], parts: [run('alnum', 32)] },
  { name: 'Notion token', begins: ['ntn_'], parts: [run('alnum', 40)] },
  { name: 'old Notion token', begins: ['secret_'], parts: [exactly('alnum', 43)] },
  { name: 'Airtable token', begins: ['pat'], parts: [exactly('alnum', 14), '.', exactly('hex', 64)] },
  { name: 'Postman key', begins: ['PMAK-'], parts: [exactly('hex', 24), '-', exactly('hex', 34)] },
  { name: 'Figma token', begins: ['figd_'], parts: [run('base64url', 36)] },
  { name: 'Dropbox token', begins: ['sl.'], parts: [run('base64url', 60)] },
  {
    name: 'WireGuard key',
    begins: ['privatekey', 'presharedkey'],
    anyCase: true,
    parts: [run('assignment', 1, 12, 'assigns'), exactly('base64', 44)],
    hides: 1,
  },
  { name: 'SonarQube token', begins: ['squ_', 'sqp_', 'sqa_'], parts: [exactly('hex', 40)] },
  { name: 'Sourcegraph token', begins: ['sgp_'], parts: [run('word', 40)] },
  { name: 'Buildkite token', begins: ['bkua_'], parts: [exactly('hex', 40)] },
  { name: 'CircleCI token', begins: ['CCIPAT_', 'CCIPRJ_'], parts: [run('word', 40)] },
  {
    name: 'HubSpot token',
    begins: ['pat-na1-', 'pat-na2-', 'pat-eu1-', 'pat-ap1-'],
    parts: [run('dashed', 36)],
  },
  {
    name: 'Dynatrace token',
    begins: ['dt0c01.', 'dt0s01.', 'dt0s02.'],
    parts: [exactly('upperDigit', 24), '.', exactly('upperDigit', 64)],
  },
  { name: 'OpenShift token', begins: ['sha256~'], parts: [exactly('base64url', 43)] },
  { name: 'LangSmith key', begins: ['lsv2_pt_', 'lsv2_sk_'], parts: [run('word', 40)] },
  { name: 'Pinecone key', begins: ['pcsk_'], parts: [run('word', 40)] },
  {
    name: 'Mapbox secret token',
    begins: ['sk.eyJ'],
    parts: [run('base64url', 20), '.', run('base64url', 20)],
  },
  { name: 'Typeform token', begins: ['tfp_'], parts: [run('base64url', 40)] },
  { name: 'Okta token', begins: ['SSWS'], parts: [run('blank', 1, 8), run('base64url', 40)], hides: 1 },
  { name: 'Weft key', begins: ['weft_live_', 'weft_test_'], parts: [run('base64url', 8)] },
  {
    name: 'Weft session key',
    begins: ['weft_session_'],
    parts: [exactly('hex', 32), '.', exactly('base64url', 43)],
  },
  {
    name: 'named credential',
    begins: ASSIGNED_NAMES,
    anyCase: true,
    parts: [run('assignment', 1, 12, 'assigns'), run('named', 16, undefined, 'random')],
    hides: 1,
  },
  {
    name: 'password in a connection string',
    begins: ['password=', 'passwd=', ';pwd='],
    anyCase: true,
    parts: [run('password', 6, undefined, 'random')],
    hides: 0,
  },
  {
    name: 'token in a URL',
    begins: URL_NAMES.flatMap((name) => [`?${name}=`, `&${name}=`, `#${name}=`]),
    anyCase: true,
    parts: [run('urlValue', 8, undefined, 'random')],
    hides: 0,
  },
  {
    name: 'token as the user of a URL',
    begins: ['://'],
    parts: [run('dotted', 20, undefined, 'random'), '@'],
    hides: 0,
  },
  { name: 'password in a URL', begins: ['://'], parts: [{ form: 'userinfo' }], hides: 0 },
];
