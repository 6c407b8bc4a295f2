import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const rotateLinks = leaf({
  name: 'links',
  summary: 'Rotate the key that signs interrupt links; run twice to invalidate all earlier links',
  examples: ['weft keys rotate links', 'weft keys rotate links && weft keys rotate links'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const rotated = await client.keys.rotateLinks();
    const { style } = cli;
    const text = shown`${rotated.keyId}  ${style.dim('signs from now on; links of the previous key are valid until the next rotation')}`;
    cli.io.stdout.write(`${cli.json ? JSON.stringify(rotated) : text}\n`);
    return EXIT.done;
  },
});
