import { studioUrl } from '../connecting/browser.ts';
import { connect } from '../connecting/connection.ts';
import { EXIT } from '../exit-code.ts';
import { HOST_ARGS, leaf } from '../parsing/command.ts';

export const open = leaf({
  name: 'open',
  summary: 'Open the web page of a host, signed in',
  examples: ['weft open', 'weft open --print', 'weft open --url https://weft.example.org'],
  args: {
    print: { type: 'boolean', description: 'Print the link, and open no browser' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const { client, target } = await connect(io, args);
    const { code, expiresAt } = await client.sessions.createCode();
    const link = studioUrl(target.url, code);
    if (cli.json) {
      io.stdout.write(`${JSON.stringify({ url: link, expiresAt })}\n`);
      return EXIT.done;
    }
    if (args.print !== true && (await io.openPage(link))) {
      io.stderr.write(`Opened ${studioUrl(target.url)} in your browser.\n`);
      return EXIT.done;
    }
    io.stdout.write(`${link}\n`);
    io.stderr.write('The link signs in once, within a minute. Treat it like a key until then.\n');
    return EXIT.done;
  },
});
