import { defineConfig } from 'orval';

export default defineConfig({
  ponte: {
    input: '../../contract/openapi.yaml',
    output: {
      client: 'fetch',
      target: 'generated/orval.ts',
      override: {
        mutator: { path: 'orval-fetch.ts', name: 'orvalFetch' },
        fetch: { includeHttpResponseReturnType: true },
      },
    },
  },
});
