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
  readonly continues: readonly Part[];
  /** Which part of `continues` is hidden; by default the whole. */
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
  {
    name: 'PGP private key',
    begins: ['-----BEGIN PGP PRIVATE KEY BLOCK-----'],
    continues: [{ form: 'block' }],
  },
  { name: 'private key', begins: ['-----BEGIN '], continues: [{ form: 'privateKey' }] },
  {
    name: 'PuTTY private key',
    begins: ['PuTTY-User-Key-File-'],
    continues: [run('digit', 1, 2), ':', { form: 'rest' }],
  },
  { name: 'age secret key', begins: ['AGE-SECRET-KEY-1'], continues: [run('upperDigit', 50)] },
  {
    name: 'bearer token',
    begins: ['bearer'],
    anyCase: true,
    continues: [run('blank', 1, 8), run('token68', 8, undefined, 'token')],
    hides: 1,
  },
  {
    name: 'basic authorization',
    begins: ['basic'],
    anyCase: true,
    continues: [run('blank', 1, 8), { form: 'basic' }],
    hides: 1,
  },
  {
    name: 'encrypted JSON web token',
    begins: ['eyJ'],
    continues: [
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
    continues: [run('base64url', 5), '.', run('base64url', 5), '.', run('base64url', 5)],
  },
  { name: 'Anthropic key', begins: ['sk-ant-'], continues: [run('base64url', 20)] },
  { name: 'sk- key', begins: ['sk-'], continues: [run('base64url', 20)] },
  { name: 'xAI key', begins: ['xai-'], continues: [run('alnum', 40)] },
  { name: 'Groq key', begins: ['gsk_'], continues: [run('alnum', 40)] },
  { name: 'Perplexity key', begins: ['pplx-'], continues: [run('alnum', 40)] },
  { name: 'Replicate token', begins: ['r8_'], continues: [run('alnum', 30)] },
  { name: 'Hugging Face token', begins: ['hf_', 'api_org_'], continues: [run('alnum', 30)] },
  {
    name: 'AWS access key',
    begins: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    continues: [exactly('upperDigit', 16)],
  },
  {
    name: 'AWS secret key',
    begins: ['aws_secret_access_key', 'secretaccesskey', 'secret_access_key'],
    anyCase: true,
    continues: [run('assignment', 1, 12, 'assigns'), exactly('base64', 40)],
    hides: 1,
  },
  {
    name: 'GitHub token',
    begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    continues: [run('word', 20)],
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
    continues: [run('base64url', 20)],
  },
  { name: 'Bitbucket token', begins: ['ATBB'], continues: [run('alnum', 24)] },
  { name: 'Atlassian token', begins: ['ATATT3', 'ATCTT3'], continues: [run('base64url', 50)] },
  {
    name: 'Slack token',
    begins: ['xox'],
    continues: [exactly('lower', 1), '-', run('dashed', 10)],
  },
  { name: 'Slack app token', begins: ['xapp-'], continues: [run('dashed', 20)] },
  {
    name: 'Slack webhook',
    begins: ['hooks.slack.com/'],
    continues: [run('path', 20)],
    hides: 0,
  },
  {
    name: 'Discord webhook',
    begins: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    continues: [run('path', 40)],
    hides: 0,
  },
  {
    name: 'Teams webhook',
    begins: ['.webhook.office.com/webhookb2/'],
    continues: [run('path', 36)],
    hides: 0,
  },
  {
    name: 'Discord token',
    begins: ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT'],
    continues: [run('alnum', 21, 26), '.', exactly('base64url', 6), '.', run('base64url', 27, 40)],
  },
  {
    name: 'Telegram bot token',
    behind: run('digit', 8, 10),
    begins: [':AA'],
    continues: [run('base64url', 32, 34)],
  },
  { name: 'Google API key', begins: ['AIza'], continues: [run('base64url', 35)] },
  { name: 'Google access token', begins: ['ya29.'], continues: [run('dotted', 20)] },
  { name: 'Google client secret', begins: ['GOCSPX-'], continues: [run('base64url', 24)] },
  { name: 'Google refresh token', begins: ['1//0'], continues: [run('base64url', 35)] },
  {
    name: 'Stripe key',
    begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    continues: [run('alnum', 16)],
  },
  { name: 'webhook signing secret', begins: ['whsec_'], continues: [run('base64', 24)] },
  {
    name: 'Square token',
    begins: ['sq0atp-', 'sq0csp-', 'sq0idp-'],
    continues: [run('base64url', 22)],
  },
  {
    name: 'Shopify token',
    begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    continues: [run('alnum', 32)],
  },
  {
    name: 'Plaid token',
    begins: ['access-sandbox-', 'access-development-', 'access-production-'],
    continues: [run('dashed', 36)],
  },
  {
    name: 'SendGrid key',
    begins: ['SG.'],
    continues: [run('base64url', 16, 32), '.', run('base64url', 32, 64)],
  },
  { name: 'Mailgun key', begins: ['key-'], continues: [exactly('hex', 32)] },
  {
    name: 'Mailchimp key',
    behind: exactly('hex', 32),
    begins: ['-us'],
    continues: [run('digit', 1, 2)],
  },
  { name: 'Brevo key', begins: ['xkeysib-', 'xsmtpsib-'], continues: [run('dashed', 64)] },
  { name: 'Twilio key', begins: ['SK'], continues: [exactly('hex', 32)] },
  { name: 'Twilio account', begins: ['AC'], continues: [exactly('hex', 32)] },
  {
    name: 'Twilio auth token',
    begins: ['twilio_auth_token', 'authtoken', 'auth_token'],
    anyCase: true,
    continues: [run('assignment', 1, 12, 'assigns'), exactly('hex', 32)],
    hides: 1,
  },
  { name: 'npm token', begins: ['npm_'], continues: [run('alnum', 30)] },
  { name: 'PyPI token', begins: ['pypi-AgE'], continues: [run('base64url', 40)] },
  { name: 'RubyGems key', begins: ['rubygems_'], continues: [run('hex', 48)] },
  { name: 'NuGet key', begins: ['oy2'], continues: [exactly('lowerDigit', 43)] },
  { name: 'Docker token', begins: ['dckr_pat_', 'dckr_oat_'], continues: [run('base64url', 20)] },
  { name: 'Vault token', begins: ['hvs.', 'hvb.', 'hvr.'], continues: [run('base64url', 20)] },
  { name: 'old Vault token', begins: ['s.', 'b.', 'r.'], continues: [exactly('alnum', 24, 'mixed')] },
  {
    name: 'Terraform token',
    behind: exactly('alnum', 14),
    begins: ['.atlasv1.'],
    continues: [run('base64url', 60)],
  },
  {
    name: 'Doppler token',
    begins: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    continues: [run('dotted', 40)],
  },
  { name: '1Password token', begins: ['ops_eyJ'], continues: [run('base64url', 60)] },
  { name: 'Pulumi token', begins: ['pul-'], continues: [exactly('hex', 40)] },
  {
    name: 'Azure storage key',
    begins: ['accountkey='],
    anyCase: true,
    continues: [run('base64', 80, 90)],
    hides: 0,
  },
  {
    name: 'Azure access key',
    begins: ['sharedaccesskey=', 'sharedaccesssignature='],
    anyCase: true,
    continues: [run('urlValue', 40)],
    hides: 0,
  },
  {
    name: 'Azure client secret',
    behind: exactly('tilde', 4),
    begins: ['Q~'],
    continues: [run('tilde', 31, 36)],
  },
  { name: 'Databricks token', begins: ['dapi'], continues: [run('hex', 32)] },
  {
    name: 'DigitalOcean token',
    begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    continues: [run('hex', 64)],
  },
  { name: 'Heroku key', begins: ['HRKU-'], continues: [run('base64url', 36)] },
  {
    name: 'Cloudflare origin key',
    begins: ['v1.0-'],
    continues: [exactly('hex', 24), '-', run('hex', 140)],
  },
  { name: 'Fly.io token', begins: ['fo1_', 'fm1_', 'fm2_'], continues: [run('base64', 40)] },
  { name: 'Netlify token', begins: ['nfp_'], continues: [run('alnum', 36)] },
  {
    name: 'PlanetScale token',
    begins: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'],
    continues: [run('dotted', 32)],
  },
  { name: 'Supabase key', begins: ['sbp_', 'sb_secret_'], continues: [run('base64url', 22)] },
  {
    name: 'Tailscale key',
    begins: ['tskey-auth-', 'tskey-api-', 'tskey-client-', 'tskey-scim-', 'tskey-webhook-'],
    continues: [run('dashed', 20)],
  },
  { name: 'Grafana token', begins: ['glsa_', 'glc_'], continues: [run('word', 32)] },
  { name: 'New Relic key', begins: ['NRAK-', 'NRII-', 'NRRA-'], continues: [run('base64url', 27)] },
  { name: 'Sentry token', begins: ['sntrys_', 'sntryu_'], continues: [run('named', 40)] },
  { name: 'Linear key', begins: ['lin_api_', 'lin_oauth_'], continues: [run('alnum', 32)] },
  { name: 'Notion token', begins: ['ntn_'], continues: [run('alnum', 40)] },
  { name: 'old Notion token', begins: ['secret_'], continues: [exactly('alnum', 43)] },
  { name: 'Airtable token', begins: ['pat'], continues: [exactly('alnum', 14), '.', exactly('hex', 64)] },
  { name: 'Postman key', begins: ['PMAK-'], continues: [exactly('hex', 24), '-', exactly('hex', 34)] },
  { name: 'Figma token', begins: ['figd_'], continues: [run('base64url', 36)] },
  { name: 'Dropbox token', begins: ['sl.'], continues: [run('base64url', 60)] },
  {
    name: 'WireGuard key',
    begins: ['privatekey', 'presharedkey'],
    anyCase: true,
    continues: [run('assignment', 1, 12, 'assigns'), exactly('base64', 44)],
    hides: 1,
  },
  { name: 'SonarQube token', begins: ['squ_', 'sqp_', 'sqa_'], continues: [exactly('hex', 40)] },
  { name: 'Sourcegraph token', begins: ['sgp_'], continues: [run('word', 40)] },
  { name: 'Buildkite token', begins: ['bkua_'], continues: [exactly('hex', 40)] },
  { name: 'CircleCI token', begins: ['CCIPAT_', 'CCIPRJ_'], continues: [run('word', 40)] },
  {
    name: 'HubSpot token',
    begins: ['pat-na1-', 'pat-na2-', 'pat-eu1-', 'pat-ap1-'],
    continues: [run('dashed', 36)],
  },
  {
    name: 'Dynatrace token',
    begins: ['dt0c01.', 'dt0s01.', 'dt0s02.'],
    continues: [exactly('upperDigit', 24), '.', exactly('upperDigit', 64)],
  },
  { name: 'OpenShift token', begins: ['sha256~'], continues: [exactly('base64url', 43)] },
  { name: 'LangSmith key', begins: ['lsv2_pt_', 'lsv2_sk_'], continues: [run('word', 40)] },
  { name: 'Pinecone key', begins: ['pcsk_'], continues: [run('word', 40)] },
  {
    name: 'Mapbox secret token',
    begins: ['sk.eyJ'],
    continues: [run('base64url', 20), '.', run('base64url', 20)],
  },
  { name: 'Typeform token', begins: ['tfp_'], continues: [run('base64url', 40)] },
  { name: 'Okta token', begins: ['SSWS'], continues: [run('blank', 1, 8), run('base64url', 40)], hides: 1 },
  { name: 'Weft key', begins: ['weft_live_', 'weft_test_'], continues: [run('base64url', 8)] },
  {
    name: 'Weft session key',
    begins: ['weft_session_'],
    continues: [exactly('hex', 32), '.', exactly('base64url', 43)],
  },
  {
    name: 'named credential',
    begins: ASSIGNED_NAMES,
    anyCase: true,
    continues: [run('assignment', 1, 12, 'assigns'), run('named', 16, undefined, 'random')],
    hides: 1,
  },
  {
    name: 'password in a connection string',
    begins: ['password=', 'passwd=', ';pwd='],
    anyCase: true,
    continues: [run('password', 6, undefined, 'random')],
    hides: 0,
  },
  {
    name: 'token in a URL',
    begins: URL_NAMES.flatMap((name) => [`?${name}=`, `&${name}=`, `#${name}=`]),
    anyCase: true,
    continues: [run('urlValue', 8, undefined, 'random')],
    hides: 0,
  },
  {
    name: 'token as the user of a URL',
    begins: ['://'],
    continues: [run('dotted', 20, undefined, 'random'), '@'],
    hides: 0,
  },
  { name: 'password in a URL', begins: ['://'], continues: [{ form: 'userinfo' }], hides: 0 },
];
