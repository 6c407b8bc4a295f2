import { describe, expect, it } from 'vitest';
import { resolveSettings } from './settings.ts';

function resolve(flags: Record<string, string> = {}, env: Record<string, string> = {}) {
  const { otlp, metricsBind } = resolveSettings({
    flags: (name) => (flags[name] === undefined ? [] : [flags[name]]),
    env,
    config: undefined,
  });
  return { otlp, metricsBind };
}

describe('settings of telemetry', () => {
  it('are off unless asked for', () => {
    expect(resolve()).toEqual({ otlp: undefined, metricsBind: undefined });
    expect(resolve({}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }).otlp).toBeUndefined();
  });

  it('take the collector from the flag before the variable, and headers from the variable', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.org',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team=weft',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    };

    expect(resolve({}, env).otlp).toEqual({
      endpoint: 'https://collector.example.org',
      authority: 'collector.example.org:443',
      headers: { authorization: 'Bearer abc', 'x-team': 'weft' },
      sampleRatio: 0.25,
    });
    expect(resolve({ 'otlp-endpoint': 'http://[::1]:4318/otlp' }, env).otlp).toMatchObject({
      endpoint: 'http://[::1]:4318/otlp',
      authority: '[::1]:4318',
    });
  });

  it('refuse what cannot work, without repeating credentials', () => {
    const endpoint = { 'otlp-endpoint': 'http://127.0.0.1:4318' };

    expect(() => resolve({ 'otlp-endpoint': 'collector:4318' })).toThrow('--otlp-endpoint takes');
    expect(() => resolve({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hunter2@c' })).toThrow(
      /^OTEL_EXPORTER_OTLP_ENDPOINT takes(?!.*hunter2)/,
    );
    expect(() => resolve(endpoint, { OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' })).toThrow(
      /^OTEL_EXPORTER_OTLP_HEADERS must be(?!.*hunter2)/,
    );
    expect(() => resolve(endpoint, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow('http/json');
    expect(() => resolve(endpoint, { OTEL_TRACES_SAMPLER_ARG: '2' })).toThrow('from 0 to 1');
  });

  it('let metrics be read without a key on loopback only', () => {
    expect(resolve({}, { WEFT_METRICS_BIND: '127.0.0.1:9464' }).metricsBind).toEqual({
      host: '127.0.0.1',
      port: 9464,
    });
    expect(resolve({}, { WEFT_METRICS_BIND: '[::1]:0' }).metricsBind).toEqual({ host: '::1', port: 0 });
    expect(() => resolve({}, { WEFT_METRICS_BIND: '0.0.0.0:9464' })).toThrow('loopback HOST:PORT');
    expect(() => resolve({}, { WEFT_METRICS_BIND: '9464' })).toThrow('loopback HOST:PORT');
  });
});
