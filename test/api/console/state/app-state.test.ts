/** What all screens share, and how it changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  back,
  changeForm,
  findOrder,
  forgetForms,
  initialState,
  logIn,
  logOut,
  loseSession,
  noteOrder,
  open,
  openApplication,
  ordersInDoubt,
  type AppState,
  type Change,
  type Order,
} from '../../../../console/state/app-state.ts';
import type { OrderKind } from '../../../../console/state/outcomes.ts';
import type { PixNext } from '../../../../contract/types.ts';
import { newForm, refuse } from '../../../../console/state/form.ts';

function customer(id: number) {
  const user = { id, name: 'Ana', email: 'ana@example.com', document: null, person_type: 'PF' };
  return { user, account: null };
}

function after(...changes: readonly Change[]): AppState {
  return changes.reduce((state, change) => change(state), initialState);
}

const typed = (form: string): Change =>
  changeForm(form, () => ({ ...newForm([]), values: { pix_key: 'bruno' } }));
const entered = logIn(customer(1));
const ended = loseSession('It has ended.');
const drafts = (state: AppState): string[] => Object.keys(state.drafts);

describe('the path of screens', () => {
  it('leads to a screen and back, and not further than home', () => {
    assert.deepEqual(after(open('send')).path, ['home', 'send']);
    assert.deepEqual(after(open('send'), back, back).path, ['home']);
  });

  it('keeps the input of a screen that is left', () => {
    const state = after(open('send'), typed('send'), back, open('send'));
    assert.equal(state.drafts['send']?.values['pix_key'], 'bruno');
  });

  it('leads to the login when the session ends, and from there to where it ended', () => {
    const state = after(entered, open('send'), typed('send'), ended);
    assert.deepEqual(state.path, ['home', 'login']);
    assert.equal(state.remark, 'It has ended.');
    const returned = entered(state);
    assert.deepEqual(returned.path, ['home', 'send']);
    assert.equal(returned.remark, null);
    assert.deepEqual(drafts(returned), ['send']);
  });
});

describe('the input', () => {
  it('has no faults that the service found in the session before', () => {
    const refused = changeForm('send', (draft) =>
      refuse(draft ?? newForm([]), [], { '': 'Your session has ended.' }),
    );
    const { drafts: kept } = after(entered, typed('send'), ended, refused, entered);
    assert.deepEqual(kept['send']?.faults, {});
    assert.equal(kept['send'].values['pix_key'], 'bruno');
  });

  it('is not shown to another customer', () => {
    const state = after(entered, open('send'), typed('send'), ended, logIn(customer(2)));
    assert.deepEqual([state.path, drafts(state)], [['home'], []]);
  });

  it('is forgotten at logout', () => {
    const state = after(entered, typed('send'), logOut('Bye.'));
    assert.deepEqual([drafts(state), state.holder, state.path], [[], null, ['home']]);
  });

  it('is kept by the login, but not the password', () => {
    const state = after(typed('login'), typed('onboarding Address'), entered);
    assert.deepEqual(drafts(state), ['onboarding Address']);
  });

  it('of one application is not there for the next', () => {
    const state = after(typed('send'), typed('onboarding registration'), openApplication('a'));
    assert.deepEqual([drafts(state), state.applicationId], [['send'], 'a']);
  });

  it('of one form can be forgotten', () => {
    assert.deepEqual(drafts(after(typed('keys'), forgetForms('keys'))), []);
  });
});

describe('an order', () => {
  const order = (kind: OrderKind, key: string, next: PixNext): Order => {
    const answer = { next, made: {}, hasErrors: false, isReplay: false, pause: '' };
    return { kind, form: kind, key, typed: '', answer };
  };
  const keysOf = (orders: readonly Order[]) => orders.map(({ form, key }) => `${form} ${key}`);

  it('is that of its form: the same key of another form is another order', () => {
    const state = after(
      noteOrder(order('send', 'k', 'wait')),
      noteOrder(order('refund', 'k', 'repeat')),
      noteOrder(order('send', 'k', 'done')),
    );
    assert.equal(findOrder(state, { form: 'send', key: 'k' })?.answer.next, 'done');
    assert.deepEqual(keysOf(ordersInDoubt(state)), ['refund k']);
  });

  it('is kept while it is in doubt, and otherwise until the next one of its form', () => {
    const { orders } = after(
      noteOrder(order('send', 'paid', 'done')),
      noteOrder(order('refund', 'other', 'done')),
      noteOrder(order('send', 'lost', 'repeat')),
      noteOrder(order('send', 'new', 'wait')),
    );
    assert.deepEqual(keysOf(orders), ['refund other', 'send lost', 'send new']);
  });
});
