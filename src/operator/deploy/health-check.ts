/**
 * Exits 0 if an address of the same container answers 200. For the health check of the image: a
 * server has /health/ready, and a worker has /metrics on METRICS_PORT.
 */
import { get } from 'node:http';

const [, , address = ''] = process.argv;
process.exitCode = 1;
const request = get(address, (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1;
  response.resume();
});
request.on('error', () => undefined);
