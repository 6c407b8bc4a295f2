import { describe, expect, it } from 'vitest';
import { StopSource } from './stop-source.ts';

describe('a source of stops', () => {
  it('calls every listener once, and none that was removed', () => {
    const stop = new StopSource();
    const heard: string[] = [];
    const leaves = (): void => void heard.push('leaves');
    stop.addEventListener('abort', () => heard.push('first'));
    stop.addEventListener('abort', leaves);
    stop.addEventListener('abort', () => heard.push('last'));
    stop.removeEventListener('abort', leaves);

    stop.stop();
    stop.stop();

    expect(heard).toEqual(['first', 'last']);
    expect(stop.aborted).toBe(true);
  });

  it('aborts the signal that a node has asked for', () => {
    const stop = new StopSource();
    const signal = stop.asAbortSignal();

    expect(signal.aborted).toBe(false);
    stop.stop();

    expect(signal.aborted).toBe(true);
    expect(stop.asAbortSignal()).toBe(signal);
  });

  it('gives an aborted signal to a node that asks too late', () => {
    const stop = new StopSource();
    stop.stop();

    expect(stop.asAbortSignal().aborted).toBe(true);
  });

  it('lets a listener leave while it is being told', () => {
    const stop = new StopSource();
    const heard: string[] = [];
    const leaving = (): void => {
      heard.push('leaving');
      stop.removeEventListener('abort', leaving);
    };
    stop.addEventListener('abort', leaving);
    stop.addEventListener('abort', () => heard.push('after it'));

    stop.stop();

    expect(heard).toEqual(['leaving', 'after it']);
  });
});
