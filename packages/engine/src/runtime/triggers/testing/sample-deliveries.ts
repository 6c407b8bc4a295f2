/**
 * Deliveries as GitHub, Stripe and Slack send them, by the shapes of their public references and with invented content. The signatures
 * were computed by another implementation, Python's `hmac`, over these very bytes.
 */

/** When all of them were signed: 2030-01-01T00:00:00Z. */
export const SIGNED_AT = 1_893_456_000_000;

export interface SampleDelivery {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const GITHUB_ISSUE: SampleDelivery = {
  secret: 'github-secret-of-the-test',
  headers: {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/invented',
    'x-github-event': 'issues',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-hub-signature-256': 'sha256=11fe708206b64c4a6a45cdcae464c08e16b8d604f5e8272ae51ecc60d2184278',
  },
  body: '{"action":"opened","issue":{"number":17,"title":"Login fails with Zoë’s account","user":{"login":"octo-tester"},"labels":[{"name":"bug"}]},"repository":{"full_name":"acme/shop","private":false},"sender":{"login":"octo-tester"}}',
};

export const STRIPE_INVOICE: SampleDelivery = {
  secret: 'whsec_invented_for_tests',
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature':
      't=1893456000,v1=0000000000000000000000000000000000000000000000000000000000000000,v1=f4cd4fcbad217e93b0c4f7089430d9316e78f9474b98769f286f8fb79803f8ce,v0=ignored',
  },
  body: '{"id":"evt_invented_0001","object":"event","api_version":"2025-01-01","created":1893456000,"type":"invoice.payment_failed","livemode":false,"data":{"object":{"id":"in_invented_42","object":"invoice","amount_due":1999,"currency":"eur","customer_email":"pay@example.com","attempt_count":2}}}',
};

export const SLACK_MENTION: SampleDelivery = {
  secret: 'slack-signing-secret',
  headers: {
    'content-type': 'application/json',
    'x-slack-request-timestamp': '1893456000',
    'x-slack-signature': 'v0=59e71427022250c4a1ca10261468696454d800b6fe194bb9ba33b9ffa43f5382',
  },
  body: '{"token":"invented","team_id":"T0INVENT","api_app_id":"A0INVENT","event":{"type":"app_mention","user":"U0INVENT","text":"<@U0BOT> is the shop down?","ts":"1893456000.000100","channel":"C0INVENT"},"type":"event_callback","event_id":"Ev0INVENTED1","event_time":1893456000}',
};

export const SLACK_CHALLENGE: SampleDelivery = {
  secret: 'slack-signing-secret',
  headers: {
    'content-type': 'application/json',
    'x-slack-request-timestamp': '1893456000',
    'x-slack-signature': 'v0=ab3a6a2692e3313966519584ad36872ad24c10f65b8c739aa073c8578d2128ff',
  },
  body: '{"token":"invented","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}',
};

export const SLACK_BUTTON: SampleDelivery = {
  secret: 'slack-signing-secret',
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': '1893456000',
    'x-slack-signature': 'v0=30888e97c9e9cb065bd5e6e1874fb729e0318349e2628ac689cc1d8b92d378c9',
  },
  body: 'payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%2213.37.abc%22%2C%22user%22%3A%7B%22id%22%3A%22U0INVENT%22%7D%7D',
};

/** The protocol's own scheme. */
export const PROTOCOL_EVENT: SampleDelivery = {
  secret: '0123456789abcdef',
  headers: {
    'content-type': 'application/json',
    'openwop-timestamp': '1893456000',
    'openwop-signature': 'sha256=8021a8e8f3638527900e19accd1210d9cdfc39073155e83bdeb6541340fbf495',
  },
  body: '{"hello":"world"}',
};
