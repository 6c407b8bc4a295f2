import { randomBytes } from 'node:crypto';

/** A text that only looks like a credential, which hosts must recognize and mask. Its marker is in it, and nowhere else. */
export interface Canary {
  readonly shape: string;
  readonly value: string;
  readonly marker: string;
}

type Shaper = (body: string) => string;

const JWT_HEAD = [{ alg: 'HS256', typ: 'JWT' }, { sub: 'conformance' }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

/** The body is 32 capital letters and digits, as every one of these allows. */
const SHAPES = {
  openai: (body) => `sk-${body}${body}`,
  anthropic: (body) => `sk-ant-api03-${body}${body}`,
  google: (body) => `AIza${`${body}${body}`.slice(0, 35)}`,
  jwt: (body) => `${JWT_HEAD}.${body}`,
  credential: (body) => `cred_${body}`,
  github: (body) => `ghp_${`${body}${body}`.slice(0, 36)}`,
  slack: (body) => `xoxb-123456789012-${body}`,
  aws: (body) => `AKIA${body.slice(0, 16)}`,
} as const satisfies Readonly<Record<string, Shaper>>;

export type Shape = keyof typeof SHAPES;

export const ALL_SHAPES = Object.keys(SHAPES) as Shape[];

/** A canary that no other check has. */
export function canary(shape: Shape): Canary {
  const body = randomBytes(16).toString('hex').toUpperCase();
  return { shape, value: SHAPES[shape](body), marker: body.slice(0, 16) };
}
