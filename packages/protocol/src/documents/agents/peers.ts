import { type Static, Type } from 'typebox';
import { closed, nonEmpty, open } from '../schema-parts.ts';

const optional = Type.Optional;

export const PeerSchema = open({
  name: nonEmpty,
  url: optional(Type.String({ description: 'Where it is reached; for the operator’s tenant.' })),
});

const PeerCardSchema = open(
  {
    agentName: Type.String({ description: 'As the agent calls itself.' }),
    protocolVersion: Type.String({ description: 'Of A2A, in which it is spoken to.' }),
    takesRepeats: Type.Boolean({
      description: 'A message whose outcome is not known may be sent again: the peer takes it once.',
    }),
    skills: Type.Array(
      open({
        id: nonEmpty,
        name: Type.String(),
        description: Type.String(),
        digest: Type.String({ description: 'SHA-256 of the card with this skill alone.' }),
      }),
      {
        description: 'In the words of the agent, which are not to be trusted.',
      },
    ),
  },
  'What the peer says of itself.',
);

export const PeerListSchema = open({ peers: Type.Array(PeerSchema) });

export const PeerTestSchema = open({
  peer: PeerSchema,
  tookMs: Type.Integer({ minimum: 0 }),
  card: optional(PeerCardSchema),
  error: optional(closed({ code: nonEmpty, message: nonEmpty }, 'Why there is no card.')),
});

export type PeerDocument = Static<typeof PeerSchema>;
export type PeerTest = Static<typeof PeerTestSchema>;
