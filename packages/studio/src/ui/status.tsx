import { Icon, type IconName } from './icons.tsx';

interface Look {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: 'good' | 'bad' | 'wait' | 'live' | 'quiet';
}

/** Every status of runs and nodes: a word, a shape and a colour, so that none of the three is needed alone. */
const LOOKS: Readonly<Record<string, Look>> = {
  pending: { text: 'Pending', icon: 'circle', tone: 'quiet' },
  running: { text: 'Running', icon: 'arc', tone: 'live' },
  paused: { text: 'Paused', icon: 'pause', tone: 'quiet' },
  'waiting-approval': { text: 'Needs approval', icon: 'person', tone: 'wait' },
  'waiting-input': { text: 'Needs input', icon: 'person', tone: 'wait' },
  'waiting-external': { text: 'Awaits event', icon: 'hourglass', tone: 'wait' },
  waiting: { text: 'Waiting', icon: 'hourglass', tone: 'wait' },
  retrying: { text: 'Retrying', icon: 'again', tone: 'wait' },
  completed: { text: 'Completed', icon: 'check', tone: 'good' },
  failed: { text: 'Failed', icon: 'cross', tone: 'bad' },
  cancelling: { text: 'Cancelling', icon: 'arc', tone: 'quiet' },
  cancelled: { text: 'Cancelled', icon: 'dash', tone: 'quiet' },
  skipped: { text: 'Skipped', icon: 'dash', tone: 'quiet' },
};

export function lookOf(status: string): Look {
  return Object.hasOwn(LOOKS, status)
    ? (LOOKS[status] as Look)
    : { text: status, icon: 'circle', tone: 'quiet' };
}

export function Status({ status }: { readonly status: string }) {
  const { text, icon, tone } = lookOf(status);
  return (
    <span className={`status tone-${tone}`}>
      <Icon name={icon} size={12} />
      {text}
    </span>
  );
}
