import { type Static, Type } from 'typebox';
import { closed, count, dateTime, nonEmpty, open } from './schema-parts.ts';

/** Secrets and artifacts under Weft's own prefix. No answer here holds the value of a secret. */

export const SECRET_SCOPES = ['tenant', 'user'] as const;

const SecretScopeSchema = Type.Enum([...SECRET_SCOPES], {
  description: 'For the whole tenant, or for the caller alone, whose own goes first.',
});

export const SetSecretSchema = closed({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }),
  value: Type.String({ minLength: 8, description: 'Shorter values could not be masked reliably.' }),
  scope: Type.Optional(SecretScopeSchema),
});

export const SecretSchema = open({
  id: nonEmpty,
  scope: SecretScopeSchema,
  createdAt: dateTime,
  updatedAt: dateTime,
  usable: Type.Boolean({ description: 'False when it was stored with another key than the host has now.' }),
});

export const SecretListSchema = open({ secrets: Type.Array(SecretSchema) });

export const ArtifactListSchema = open({
  artifacts: Type.Array(
    open({
      artifactId: nonEmpty,
      name: nonEmpty,
      nodeKey: nonEmpty,
      mediaType: nonEmpty,
      size: count,
      digest: Type.String({ description: 'SHA-256 of the bytes, hex.' }),
      createdAt: dateTime,
    }),
  ),
  nextCursor: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
});

export type SetSecretRequest = Static<typeof SetSecretSchema>;
