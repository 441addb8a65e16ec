import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../../contract/openapi.yaml',
  output: { path: 'generated/hey-api', importFileExtension: '.ts' },
});
