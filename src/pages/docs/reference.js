/* Shows the contract of this service; requests are sent to the same service. */
window.SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  // Disabled because the validator is a public service.
  validatorUrl: null,
});
