/** One delivery as it came. */
export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

/** Takes deliveries of webhooks and callbacks, and remembers them. */
export interface WebhookReceiver {
  /** Where the host must be allowed to send to. */
  readonly address: string;
  /** A URL under which nothing has arrived yet. */
  newUrl(): string;
  deliveriesTo(url: string): readonly Delivery[];
  stop(): Promise<void>;
}

export function startWebhookReceiver(port: number): Promise<WebhookReceiver> {
  return Promise.reject(new Error(`not yet: ${port}`));
}
