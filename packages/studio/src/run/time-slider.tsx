import { useEffect, useMemo, useRef, useState } from 'react';
import type { RunEventDocument } from '@weft/sdk';
import { Icon } from '../ui/icons.tsx';
import { clockText } from '../ui/time-text.ts';
import { createStops, MOST_SINGLE_STOPS } from './slider-stops.ts';

interface TimeSliderProps {
  readonly events: readonly RunEventDocument[];
  readonly length: number;
  /** Place of the event that is looked at; undefined follows the newest. */
  readonly at: number | undefined;
  readonly isActive: boolean;
  readonly onMove: (at: number | undefined) => void;
}

const STEP_MS = 120;
/** A playback takes about this many steps, however long the log is. */
const STEPS = 150;

/** Any moment of the run: every panel shows the run as it stood after this event. */
export function TimeSlider({ events, length, at, isActive, onMove }: TimeSliderProps) {
  const [isPlaying, setPlaying] = useState(false);
  const stopsOf = useMemo(() => createStops(events), [events]);
  const stops = stopsOf(length);
  const shown = Math.min(at ?? length - 1, length - 1);
  const stop = stops.upTo(shown);
  const moveTo = (next: number): void => onMove(next >= stops.last ? undefined : stops.place(next));
  const moving = useRef({ stop, last: stops.last, moveTo });
  moving.current = { stop, last: stops.last, moveTo };
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      const { stop: from, last, moveTo: move } = moving.current;
      const next = from + Math.max(1, Math.round(last / STEPS));
      move(next);
      if (next >= last) setPlaying(false);
    }, STEP_MS);
    return () => clearInterval(timer);
  }, [isPlaying]);
  const event = events[shown];
  const play = (): void => {
    if (!isPlaying && at === undefined) onMove(0);
    setPlaying(!isPlaying);
  };
  return (
    <div
      className={`time-slider ${at === undefined ? '' : 'past'}`}
      role="group"
      aria-label="Moment of the run"
    >
      <button type="button" className="button tiny" onClick={play} disabled={length < 2}>
        <Icon name={isPlaying ? 'pause' : 'play'} size={12} />
        {isPlaying ? 'Pause' : 'Play back'}
      </button>
      <input
        type="range"
        min={0}
        max={Math.max(0, stops.last)}
        value={Math.max(0, stop)}
        disabled={length < 2}
        aria-label="Event"
        aria-valuetext={event === undefined ? 'no event yet' : `event ${event.sequence}, ${event.type}`}
        aria-describedby={stops.isByNode ? 'slider-steps' : undefined}
        onChange={(change) => moveTo(Number(change.target.value))}
      />
      {stops.isByNode && (
        <span id="slider-steps" className="small muted">
          Steps by node: over {MOST_SINGLE_STOPS.toLocaleString('en')} events
        </span>
      )}
      <span className="small mono truncate moment">
        {event === undefined
          ? 'no event yet'
          : `#${event.sequence} ${event.type} · ${clockText(Date.parse(event.timestamp))}`}
      </span>
      <button
        type="button"
        className="button tiny"
        onClick={() => onMove(undefined)}
        disabled={at === undefined}
      >
        {isActive ? 'Live' : 'End'}
      </button>
    </div>
  );
}
