import { Type } from 'typebox';
import { closed, count, nonEmpty } from '../../documents/schema-parts.ts';
import { share } from './payload-parts.ts';
import { DEBUG, event, family } from './row.ts';

const optional = Type.Optional;

export const VOICE_EVENTS = family('voice', [
  event('voice.speech_start', DEBUG, closed({ atMs: count }), 'Speech begins.'),
  event(
    'voice.transcript',
    DEBUG,
    closed({
      text: Type.String(),
      isFinal: Type.Boolean(),
      atMs: count,
      contentTrust: Type.Literal('untrusted'),
      committedPrefix: optional(Type.String()),
      stability: optional(share),
      formatted: optional(Type.Boolean()),
    }),
    'A part of a transcript; parts that are not final must not drive effects.',
  ),
  event(
    'voice.endpoint_candidate',
    DEBUG,
    closed({ atMs: count, confidence: optional(share) }),
    'The speaker’s turn has probably ended.',
  ),
  event(
    'voice.turn_commit',
    DEBUG,
    closed({ atMs: count, finalText: Type.String() }),
    'The speaker’s turn has ended.',
  ),
  event(
    'voice.synthesis_chunk',
    DEBUG,
    closed({
      seq: count,
      mimeType: nonEmpty,
      durationMs: optional(count),
      url: optional(Type.String()),
      streamRef: optional(Type.String()),
      base64: optional(Type.String()),
      final: optional(Type.Boolean()),
    }),
    'A piece of synthesized speech, by reference or inline.',
  ),
  event('voice.barge_in', DEBUG, closed({ atMs: count }), 'The user spoke over the playback.'),
  event(
    'voice.cancelled',
    DEBUG,
    closed({ atMs: count, reason: optional(Type.Enum(['barge-in', 'explicit'])) }),
    'Work for a spoken answer was stopped.',
  ),
]);
