import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/** The effect of a step of E, as cheap as Node can make it, so that what is measured is the engine around it. */
export function createEchoCall(url) {
  return () =>
    new Promise((resolve, reject) => {
      const outgoing = request(url, { agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => (text += piece));
        response.once('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`the echo server answered ${response.statusCode}`));
        });
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
}
