/* The frame of the pages: the navigation, the views of one page, and the drawer of requests. */
import { token, exchanges } from './api.js';
import { byId } from './page.js';

const views = [...document.querySelectorAll('[data-view]')];

/** What the service is, and whether it has the simulated bank. */
export const about = await (await fetch('/dev/about.json')).json();

const { provider, version, hasBank } = about;
byId('where').textContent = `local · ${provider} · version ${version}`;
for (const link of document.querySelectorAll('[data-needs-bank]')) link.hidden = !hasBank;

/** The slash keeps a view's address from being an element's: the browser would scroll to it. */
function viewName() {
  if (!location.hash.startsWith('#/')) return 'account';
  const wanted = location.hash.slice('#/'.length);
  return views.some(({ dataset }) => dataset.view === wanted) ? wanted : 'missing';
}

/** Shows the view that the address names, or the login without a session. */
export function showView() {
  if (views.length === 0) return;
  const isIn = token() !== null;
  const name = viewName();
  for (const view of views) view.hidden = !isIn || view.dataset.view !== name;
  byId('login-view').hidden = isIn;
  byId('missing-address').textContent = `The address ends in ${location.hash}.`;
  if (isIn) document.dispatchEvent(new CustomEvent(`show-${name}`));
  markPage();
}

/** Calls `work` whenever a view is shown, and now if it is. */
export function onShow(name, work) {
  document.addEventListener(`show-${name}`, work);
  if (token() !== null && viewName() === name) work();
}

function markPage() {
  const view = token() === null ? '' : `/dev#/${viewName()}`;
  const here = views.length === 0 ? location.pathname : view;
  for (const link of document.querySelectorAll('nav a')) {
    const isHere = link.getAttribute('href') === here;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    if (isHere) centre(link);
  }
}

/**
 * On a phone the navigation is a strip that scrolls, with pages on both sides; so are the steps.
 */
export function centre(item) {
  const { parentElement: strip, offsetLeft, offsetWidth } = item;
  strip.scrollLeft = offsetLeft - strip.offsetLeft - (strip.clientWidth - offsetWidth) / 2;
}

addEventListener('hashchange', () => {
  // The skip link names no view.
  if (location.hash === '#main') return;
  showView();
  scrollTo(0, 0);
  byId('main').focus({ preventScroll: true });
});
exchanges.addEventListener('session', showView);

const openKey = 'ponte-dev-requests';

function toggleDrawer(isOpen) {
  byId('drawer').hidden = !isOpen;
  byId('trace-toggle').setAttribute('aria-expanded', String(isOpen));
  sessionStorage.setItem(openKey, isOpen ? 'open' : '');
}

byId('trace-toggle').addEventListener('click', () => toggleDrawer(byId('drawer').hidden));
byId('trace-close').addEventListener('click', closeDrawer);
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && !byId('drawer').hidden && !document.querySelector('dialog[open]')) {
    closeDrawer();
  }
});

function closeDrawer() {
  toggleDrawer(false);
  byId('trace-toggle').focus();
}

toggleDrawer(sessionStorage.getItem(openKey) === 'open');
showView();
markPage();
