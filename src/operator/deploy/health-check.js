/**
 * Exits 0 if an address of the same container answers 200. For the health check of the image: a server
 * has /health/ready, and a worker has /metrics on METRICS_PORT.
 */
const [, , address = ''] = process.argv;
const isWell = await fetch(address).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isWell ? 0 : 1);
