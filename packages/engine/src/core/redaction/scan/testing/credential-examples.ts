/**
 * One credential of every shape, made up from parts: no line of this file is one, and none of them opens anything.
 */
export interface CredentialExample {
  readonly text: string;
  /** What must not be seen afterwards; by default all of it. */
  readonly hidden?: string;
  /** What differs so little that only a careless reader would take it for one. */
  readonly near: string;
}

const HEX = '0123456789abcdef';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const LETTERS = `${LOWER}${LOWER.toUpperCase()}`;
const ALNUM = `${LETTERS}0123456789`;
const UPPER = `${LOWER.toUpperCase()}0123456789`;

/** The same every time, and without a pattern that would make two of them alike. */
function made(length: number, signs = ALNUM): string {
  let text = '';
  for (let at = 0; at < length; at++) text += signs[(at * at * 7 + at * 11 + length * 3 + 5) % signs.length];
  return text;
}

const hex = (length: number): string => made(length, HEX);
const key = (length: number): string => made(length);
const join = (...parts: readonly string[]): string => parts.join('');

function hiding(before: string, secret: string, after: string, near: string): CredentialExample {
  return { text: `${before}${secret}${after}`, hidden: secret, near };
}

const PEM = (label: string): string =>
  join('-----BEGIN ', label, '-----\n', key(64), '\n', key(40), '\n-----END ', label, '-----');

export const CREDENTIAL_EXAMPLES: Readonly<Record<string, CredentialExample>> = {
  'PGP private key': {
    text: PEM(join('PGP PRIVATE ', 'KEY BLOCK')),
    near: PEM('PGP PUBLIC KEY BLOCK'),
  },
  'private key': { text: PEM(join('OPENSSH PRIVATE ', 'KEY')), near: PEM('CERTIFICATE') },
  'PuTTY private key': {
    text: join('PuTTY-User-Key-', 'File-3: ssh-ed25519\nPrivate-Lines: 1\n', key(40)),
    near: 'PuTTY-User-Key-File is a format',
  },
  'age secret key': {
    text: join('AGE-SECRET-', 'KEY-1', made(58, UPPER)),
    near: join('AGE-SECRET-', 'KEY-1', made(20, UPPER)),
  },
  'bearer token': hiding('Authorization: Bearer ', key(24), '', 'Bearer authentication is required'),
  'basic authorization': hiding(
    'Authorization: Basic ',
    btoa(join('aladdin:', 'open sesame')),
    '',
    'Basic authentication and basic understanding',
  ),
  'encrypted JSON web token': {
    text: join('eyJ', key(20), '..', key(16), '.', key(30), '.', key(22)),
    near: join('eyJ', key(20), '..', key(16), '.', key(30)),
  },
  'JSON web token': {
    text: join('eyJ', key(20), '.eyJ', key(30), '.', key(43)),
    near: join('eyJ', key(20), '.eyJ', key(30)),
  },
  'Anthropic key': { text: join('sk-', 'ant-api03-', key(40)), near: 'sk-ant-and-cat' },
  'sk- key': { text: join('sk-', 'proj-', key(32)), near: 'the task-runner-with-a-very-long-name' },
  'xAI key': { text: join('xai-', key(80)), near: 'xai-grid' },
  'Groq key': { text: join('gsk_', key(52)), near: 'gsk_short' },
  'Perplexity key': { text: join('pplx-', key(48)), near: 'pplx-7b-online' },
  'Replicate token': { text: join('r8_', key(37)), near: 'r8_register' },
  'Hugging Face token': { text: join('hf_', made(34, LETTERS)), near: 'hf_transformers' },
  'AWS access key': {
    text: join('AKIA', made(16, UPPER)),
    near: join('AKIA', made(17, UPPER)),
  },
  'AWS secret key': hiding('aws_secret_access_key = ', key(40), '', `aws_secret_access_key = ${key(41)}`),
  'GitHub token': { text: join('ghp_', key(36)), near: 'ghp_readme' },
  'GitLab token': { text: join('glpat-', key(20)), near: 'glpat-tokens-docs' },
  'Bitbucket token': { text: join('ATBB', key(32)), near: 'ATBBasics' },
  'Atlassian token': { text: join('ATATT3', 'xFfGF0', key(180)), near: 'ATATT3x' },
  'Slack token': { text: join('xoxb-', '123456789012-', key(24)), near: 'xoxb-tokens' },
  'Slack app token': { text: join('xapp-', '1-', made(11, UPPER), '-', hex(40)), near: 'xapp-engine' },
  'Slack webhook': hiding(
    'https://hooks.slack.com/',
    join('services/', made(9, UPPER), '/', made(11, UPPER), '/', key(24)),
    '',
    'https://hooks.slack.com/services',
  ),
  'Discord webhook': hiding(
    'https://discord.com/api/webhooks/',
    join('123456789012345678/', key(68)),
    '',
    'https://discord.com/api/webhooks/123456789012345678',
  ),
  'Teams webhook': hiding(
    'https://example.webhook.office.com/webhookb2/',
    join('0192f0c4-7b1e-7cc3-9d2a-1f2e3d4c5b6a/IncomingWebhook/', hex(32)),
    '',
    'https://example.webhook.office.com/webhookb2/help',
  ),
  'Discord token': {
    text: join('MT', made(22), '.', key(6), '.', key(38)),
    near: join('MT', made(22), '.', key(7), '.', key(38)),
  },
  'Telegram bot token': { text: join('123456789', ':AA', key(33)), near: join('1234567', ':AA', key(33)) },
  'Google API key': { text: join('AIza', key(35)), near: join('AIza', key(34)) },
  'Google access token': { text: join('ya29.', 'a0Af', key(60)), near: 'ya29.short' },
  'Google client secret': { text: join('GOCSPX-', key(28)), near: 'GOCSPX-prefix' },
  'Google refresh token': { text: join('1//0', key(60)), near: '1//0 is no division' },
  'Stripe key': { text: join('sk_live', '_', key(24)), near: 'sk_live_mode' },
  'webhook signing secret': { text: join('whsec_', key(32)), near: 'whsec_missing' },
  'Square token': { text: join('sq0atp-', key(22)), near: 'sq0atp-sample' },
  'Shopify token': { text: join('shpat_', hex(32)), near: 'shpat_install' },
  'Plaid token': {
    text: join('access-', 'sandbox-', '0192f0c4-7b1e-7cc3-9d2a-1f2e3d4c5b6a'),
    near: 'access-sandbox-environments',
  },
  'SendGrid key': { text: join('SG.', key(22), '.', key(43)), near: join('SG.', key(22), '.', key(12)) },
  'Mailgun key': { text: join('key-', hex(32)), near: join('key-', hex(31)) },
  'Mailchimp key': { text: join(hex(32), '-us', '12'), near: join(hex(31), '-us', '12') },
  'Brevo key': { text: join('xkeysib-', hex(64), '-', key(16)), near: 'xkeysib-example' },
  'Twilio key': { text: join('SK', hex(32)), near: join('SK', hex(33)) },
  'Twilio account': { text: join('AC', hex(32)), near: join('AC', hex(31)) },
  'Twilio auth token': hiding('TWILIO_AUTH_TOKEN=', hex(32), '', `TWILIO_AUTH_TOKEN=${'x'.repeat(8)}`),
  'npm token': { text: join('npm_', key(36)), near: 'npm_config_registry' },
  'PyPI token': { text: join('pypi-', 'AgEIcHlwaS5vcmc', key(60)), near: 'pypi-AgEtest' },
  'RubyGems key': { text: join('rubygems_', hex(48)), near: 'rubygems_version' },
  'NuGet key': {
    text: join('oy2', made(43, `${LOWER}0123456789`)),
    near: join('oy2', made(42, `${LOWER}0123456789`)),
  },
  'Docker token': { text: join('dckr_pat_', key(27)), near: 'dckr_pat_docs' },
  'Vault token': { text: join('hvs.', key(90)), near: 'hvs.example' },
  'old Vault token': { text: join('s.', 'aB3', key(21)), near: join('s.', made(24, LOWER)) },
  'Terraform token': {
    text: join(key(14), '.atlasv1.', key(67)),
    near: join(key(13), '.atlasv1.', key(67)),
  },
  'Doppler token': { text: join('dp.pt.', key(43)), near: 'dp.pt.short' },
  '1Password token': { text: join('ops_', 'eyJ', key(120)), near: 'ops_eyJa' },
  'Pulumi token': { text: join('pul-', hex(40)), near: join('pul-', hex(39)) },
  'Azure storage key': hiding(
    'AccountName=weft;AccountKey=',
    `${key(86)}==`,
    ';EndpointSuffix=core.windows.net',
    'AccountKey=missing',
  ),
  'Azure access key': hiding(
    'SharedAccessKeyName=all;SharedAccessKey=',
    `${key(43)}=`,
    '',
    'SharedAccessKey=missing',
  ),
  'Azure client secret': { text: join('abC8', 'Q~', key(34)), near: join('abcC8', 'Q~', key(34)) },
  'Databricks token': { text: join('dapi', hex(32)), near: join('dapi', hex(20)) },
  'DigitalOcean token': { text: join('dop_v1_', hex(64)), near: join('dop_v1_', hex(20)) },
  'Heroku key': { text: join('HRKU-', 'AA', key(58)), near: 'HRKU-example' },
  'Cloudflare origin key': {
    text: join('v1.0-', hex(24), '-', hex(146)),
    near: join('v1.0-', hex(23), '-', hex(146)),
  },
  'Fly.io token': { text: join('fm2_', key(120)), near: 'fm2_radio' },
  'Netlify token': { text: join('nfp_', key(36)), near: 'nfp_docs' },
  'PlanetScale token': { text: join('pscale_tkn_', key(43)), near: 'pscale_tkn_id' },
  'Supabase key': { text: join('sbp_', hex(40)), near: 'sbp_project' },
  'Tailscale key': { text: join('tskey-auth-', key(12), '-', key(32)), near: 'tskey-auth-expiry' },
  'Grafana token': { text: join('glsa_', key(32), '_', hex(8)), near: 'glsa_prefix' },
  'New Relic key': { text: join('NRAK-', made(27, UPPER)), near: join('NRAK-', made(12, UPPER)) },
  'Sentry token': { text: join('sntryu_', hex(64)), near: 'sntryu_user' },
  'Linear key': { text: join('lin_api_', key(40)), near: 'lin_api_docs' },
  'Notion token': { text: join('ntn_', key(46)), near: 'ntn_page' },
  'old Notion token': { text: join('secret_', key(43)), near: join('secret_', key(42)) },
  'Airtable token': { text: join('pat', key(14), '.', hex(64)), near: join('pat', key(14), '.', hex(63)) },
  'Postman key': { text: join('PMAK-', hex(24), '-', hex(34)), near: join('PMAK-', hex(24), '-', hex(33)) },
  'Figma token': { text: join('figd_', key(40)), near: 'figd_file' },
  'Dropbox token': { text: join('sl.', key(130)), near: 'sl.example' },
  'WireGuard key': hiding('PrivateKey = ', `${key(43)}=`, '', 'PrivateKey = none'),
  'SonarQube token': { text: join('squ_', hex(40)), near: join('squ_', hex(39)) },
  'Sourcegraph token': { text: join('sgp_', hex(40)), near: 'sgp_search' },
  'Buildkite token': { text: join('bkua_', hex(40)), near: join('bkua_', hex(39)) },
  'CircleCI token': { text: join('CCIPAT_', key(22), '_', hex(40)), near: 'CCIPAT_TOKEN' },
  'HubSpot token': {
    text: join('pat-eu1-', hex(8), '-', hex(4), '-', hex(4), '-', hex(4), '-', hex(12)),
    near: join('pat-eu1-', hex(8)),
  },
  'Dynatrace token': {
    text: join('dt0c01.', made(24, UPPER), '.', made(64, UPPER)),
    near: join('dt0c01.', made(24, UPPER)),
  },
  'OpenShift token': { text: join('sha256~', key(43)), near: join('sha256~', key(42)) },
  'LangSmith key': { text: join('lsv2_pt_', hex(32), '_', hex(10)), near: 'lsv2_pt_project' },
  'Pinecone key': { text: join('pcsk_', key(6), '_', key(60)), near: 'pcsk_index' },
  'Mapbox secret token': { text: join('sk.eyJ', key(60), '.', key(22)), near: join('sk.eyJ', key(60)) },
  'Typeform token': { text: join('tfp_', key(44), '_', key(14)), near: 'tfp_form' },
  'Okta token': hiding('SSWS ', join('00', key(40)), '', 'SSWS token'),
  'Weft key': { text: join('weft_live_', key(43)), near: 'weft_live_x' },
  'Weft session key': { text: join('weft_session_', hex(32), '.', key(43)), near: 'weft_session_open' },
  'named credential': hiding(
    '"client_secret": "',
    key(32),
    '"',
    'client_secret == nodes.settings1.output.secret',
  ),
  'password in a connection string': hiding(
    'Server=db;User=weft;Password=',
    'hunter22',
    ';',
    'password == inputs.password1',
  ),
  'token in a URL': hiding(
    'https://api.example/v1?page=2&access_token=',
    key(20),
    '&sort=up',
    'https://api.example/v1?token=YOUR_TOKEN_HERE',
  ),
  'token as the user of a URL': hiding(
    'https://',
    key(40),
    '@dev.example/x.git',
    'https://a.person.with.a.long.name@example.org/',
  ),
  'password in a URL': hiding('postgres://weft:', 'hunter22', '@db:5432/x', 'https://example.org/a:b@c'),
};
