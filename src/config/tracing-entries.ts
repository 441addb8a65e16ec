/** The settings of traces, under the names that OpenTelemetry gives them. */
import { fileSetting, formatted, text } from './entry.ts';

export const tracingEntries = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    meaning:
      'address of an OpenTelemetry collector, which takes spans at /v1/traces (OTLP over HTTP); ' +
      'unset: no traces',
    expected: 'an http:// or https:// address without query, user and fragment',
    schema: formatted('base-url'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    meaning: 'headers for the collector: name=value, separated by commas, with % escapes',
    expected: '`name=value`, separated by commas, each value with % escapes',
    schema: formatted('otlp-headers'),
    orFile: 'OTEL_EXPORTER_OTLP_HEADERS_FILE',
    isSecret: true,
  },
  OTEL_EXPORTER_OTLP_HEADERS_FILE: fileSetting('OTEL_EXPORTER_OTLP_HEADERS'),
  OTEL_SERVICE_NAME: {
    meaning: 'the name of the service in its traces',
    expected: 'a text of at most 1024 characters',
    schema: text,
    default: 'ponte',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    meaning: 'share of the traces that begin here and are recorded, the same in every process',
    expected: 'a number from 0 to 1',
    schema: formatted('share'),
    default: '1',
  },
} as const;
