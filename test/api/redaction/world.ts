/** A service that is watched while people and the provider use it. */
import type { TestResponse, TestApp, TestRequest } from '../../support/app.ts';
import { passUntil } from '../../support/passing-time.ts';
import { Hidden, others, person, secrets } from './values.ts';

export interface World {
  readonly app: TestApp;
  readonly hidden: Hidden;
  /** The access token of the person, once logged in. */
  token: string;
  /** The secret id of the application, once there is one. */
  applicationId: string;
  /** Calls an endpoint; time passes until it answers, and what refuses is kept. */
  call(path: string, request?: TestRequest): Promise<TestResponse>;
  /** The refusals so far, each as the text that goes over the wire. */
  readonly refusals: string[];
}

/** Watches a service from its start. */
export function makeWorld(app: TestApp): World {
  const refusals: string[] = [];
  return {
    app,
    hidden: new Hidden(person, others, secrets),
    token: '',
    applicationId: '',
    refusals,
    async call(path, request) {
      const response = await passUntil(app.clock, app.call(path, request));
      const { status, headers, body } = response;
      if (status >= 400) {
        refusals.push(`${status} ${JSON.stringify([...headers])} ${JSON.stringify(body)}`);
      }
      return response;
    },
  };
}
