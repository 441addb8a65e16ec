import { parse } from 'yaml';
import { loadContract, type Contract } from '../../../src/contract/contract.ts';

/** The contract that a text in YAML describes. */
export function parseContract(yaml: string): Contract {
  return loadContract(parse(yaml), yaml);
}

/** A contract with one operation for each thing that the wire does. */
export const smallContract = `
openapi: 3.1.0
info: { title: Small, version: 1.0.0 }
servers:
  - url: '{base_url}/api/v1'
    variables: { base_url: { default: 'http://127.0.0.1:3000' } }
security: [{ bearerAuth: [] }]
paths:
  /things:
    post:
      operationId: createThing
      x-strict-query: true
      parameters:
        - $ref: '#/components/parameters/IdempotencyKey'
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 50 } }
        - { name: ratio, in: query, schema: { type: number } }
        - { name: draft, in: query, schema: { type: boolean } }
        - { name: start_date, in: query, schema: { type: string, format: date } }
        - { name: note, in: query, schema: { type: string } }
      requestBody:
        required: true
        x-max-body-bytes: 262144
        content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } }
      responses:
        '201': { $ref: '#/components/responses/Message' }
        '422': { $ref: '#/components/responses/Invalid' }
        default: { $ref: '#/components/responses/Message' }
  /things/search:
    post:
      operationId: searchThings
      security: []
      responses:
        '200': { $ref: '#/components/responses/Message' }
  /things/{thingId}:
    parameters:
      - { name: thingId, in: path, required: true, schema: { type: string, format: uuid } }
    get:
      operationId: getThing
      responses:
        '200': { $ref: '#/components/responses/Message' }
        '304': { description: Not changed. }
        '404': { $ref: '#/components/responses/Message' }
        '422': { $ref: '#/components/responses/Invalid' }
  /codes/{code}:
    get:
      operationId: readCode
      security: []
      parameters:
        - name: code
          in: path
          required: true
          schema: { type: string, maxLength: 3, pattern: '^[0-9]{3}$' }
      responses:
        '200': { $ref: '#/components/responses/Message' }
        '422': { $ref: '#/components/responses/Invalid' }
  /notes:
    post:
      operationId: addNote
      security: []
      x-throttle: writing
      requestBody:
        required: false
        x-max-body-bytes: 262144
        content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
      responses:
        '202': { $ref: '#/components/responses/Message' }
        '502':
          description: The provider failed.
          content:
            application/json:
              schema:
                type: object
                required: [code, message]
                properties: { code: { type: string }, message: { type: string } }
  /events:
    post:
      operationId: receiveEvent
      security: [{ webhookSecret: [] }, {}]
      requestBody:
        required: true
        x-max-body-bytes: 262144
        content: { application/json: { schema: { type: [object, array] } } }
      responses:
        '200': { $ref: '#/components/responses/Message' }
  /files:
    post:
      operationId: upload
      security: []
      requestBody:
        required: true
        content: { multipart/form-data: { schema: { $ref: '#/components/schemas/File' } } }
      responses:
        '201': { $ref: '#/components/responses/Message' }
  /token:
    delete:
      operationId: endToken
      responses:
        '200': { $ref: '#/components/responses/Message' }
components:
  securitySchemes:
    bearerAuth: { type: http, scheme: bearer }
    webhookSecret: { type: apiKey, in: header, name: X-Webhook-Secret }
  parameters:
    IdempotencyKey:
      name: Idempotency-Key
      in: header
      required: true
      schema: { type: string, minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7E]{1,128}$' }
  responses:
    Message:
      description: A message.
      content: { application/json: { schema: { $ref: '#/components/schemas/Message' } } }
    Invalid:
      description: Faulty fields.
      content:
        application/json:
          schema:
            type: object
            required: [message, errors]
            properties:
              message: { type: string }
              errors: { type: object, additionalProperties: { type: array } }
  schemas:
    Message:
      type: object
      required: [message]
      additionalProperties: false
      properties: { message: { type: string } }
    Thing:
      type: object
      required: [email, amount]
      properties:
        email: { type: string, format: email, maxLength: 30 }
        amount: { type: number, minimum: 0.01, x-max-decimals: 2 }
        kind: { type: string, enum: [dynamic, static] }
        document: { type: string, maxLength: 18, x-format: cpf }
        zipcode: { type: string, maxLength: 8, pattern: '^[0-9]{8}$', x-format: cep-digits }
        password: { type: string, minLength: 8 }
        password_confirmation: { type: string, minLength: 8, x-same-as: password }
        nickname: { anyOf: [{ type: string, minLength: 3 }, { type: 'null' }] }
        extra: {}
        additional_data:
          type: array
          maxItems: 5
          items: { $ref: '#/components/schemas/Datum' }
    Datum:
      type: object
      required: [name, value]
      properties: { name: { type: string, maxLength: 5 }, value: { type: string } }
    Note:
      type: object
      properties: { text: { type: string } }
    File:
      type: object
      required: [tipo_documento, arquivo]
      properties:
        tipo_documento: { type: integer }
        arquivo: { type: string, format: binary }
`;
