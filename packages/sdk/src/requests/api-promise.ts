/** What a call gave, and the HTTP response it was read from. The body of the response has been read. */
export interface WithResponse<Data> {
  readonly data: Data;
  readonly response: Response;
}

/** What every call returns: a promise of its result, which also knows the HTTP response. The request has been sent. */
export class ApiPromise<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'ApiPromise';
  readonly #answer: () => Promise<WithResponse<Data>>;

  constructor(answer: () => Promise<WithResponse<Data>>) {
    this.#answer = answer;
  }

  /** For headers and the status, such as `openwop-idempotent-replay`. */
  withResponse(): Promise<WithResponse<Data>> {
    return this.#answer();
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<Result = Data, Other = never>(
    onData?: ((data: Data) => Result | PromiseLike<Result>) | null,
    onError?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Result | Other> {
    return this.#data().then(onData, onError);
  }

  catch<Other = never>(
    onError?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Data | Other> {
    return this.#data().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Data> {
    return this.#data().finally(onEnd);
  }

  #data(): Promise<Data> {
    return this.#answer().then(({ data }) => data);
  }
}

/** The same call with another result. */
export function mapped<Data, Result>(
  call: ApiPromise<Data>,
  change: (data: Data, response: Response) => Result,
): ApiPromise<Result> {
  const answer = call
    .withResponse()
    .then(({ data, response }) => ({ data: change(data, response), response }));
  return new ApiPromise(() => answer);
}
