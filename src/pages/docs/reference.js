/* Shows the contract of the service that serves this page, with try-it on the same service. */
window.SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  // The validator is a public service: nothing is sent there.
  validatorUrl: null,
});
