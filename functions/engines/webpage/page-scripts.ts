/** Scripts that run inside pages, as text: they use the browser's globals, not Node's. */

/** Removes the WebRTC interfaces, in case the browser's switches do not cover all frames. */
export const withoutPeers = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport'])
  Object.defineProperty(globalThis, name, { value: undefined, writable: false, configurable: false });`;

const bannerSelectors = [
  '#onetrust-consent-sdk',
  '#onetrust-banner-sdk',
  '#CybotCookiebotDialog',
  '#CybotCookiebotDialogBodyUnderlay',
  '#usercentrics-root',
  '#usercentrics-cmp-ui',
  '#didomi-host',
  '#qc-cmp2-container',
  '#truste-consent-track',
  '#trustarc-banner-overlay',
  '.truste_overlay',
  '.truste_box_overlay',
  '#cmpbox',
  '#cmpbox2',
  '#cmpwrapper',
  '[id^="sp_message_container_"]',
  '.osano-cm-window',
  '.cky-consent-container',
  '.cky-overlay',
  '.cmplz-cookiebanner',
  '#BorlabsCookieBox',
  '#klaro .cookie-notice',
  '#klaro .cookie-modal',
  '#iubenda-cs-banner',
  '#termly-code-snippet-support',
  '.cc-window.cc-banner',
  '.cc-window.cc-floating',
  '.cc_banner-wrapper',
  '#cookie-law-info-bar',
  '#cookie-notice',
  '#cookieNotice',
  '#cookie-banner',
  '#cookieBanner',
  '.cookie-banner',
  '#cookie-consent',
  '#cookieConsent',
  '.cookie-consent',
  '#gdpr-cookie-message',
  '#hs-eu-cookie-confirmation',
  '#shopify-pc__banner',
  '.fc-consent-root',
  '#axeptio_overlay',
  '#tarteaucitronRoot',
  '#moove_gdpr_cookie_info_bar',
  '.evidon-banner',
  '#_evidon_banner',
  '#ccc',
  'cookie-consent',
];

/** Hides common consent banners, and overlays that mention cookies. */
export const hideCookieBanners = `(() => {
  const hide = (element) => element.style.setProperty('display', 'none', 'important');
  let isHidden = false;
  for (const element of document.querySelectorAll(${JSON.stringify(bannerSelectors.join(','))})) { hide(element); isHidden = true; }
  const speaks = /\\bcookies?\\b|\\bgdpr\\b|\\bconsent\\b|datenschutz|\\bcookie-/i;
  let budget = 20000;
  for (const element of document.querySelectorAll('body *')) {
    if (budget-- <= 0) break;
    const { position } = getComputedStyle(element);
    if (position !== 'fixed' && position !== 'sticky') continue;
    if (element.matches('header, nav, main, article') || element.querySelector('main, article, h1 ~ p ~ p ~ p ~ p ~ p')) continue;
    const text = element.textContent ?? '';
    if (text.length < 4000 && speaks.test(text) && element.querySelector('button, a, input, [role=button]')) { hide(element); isHidden = true; }
  }
  if (isHidden) for (const element of [document.documentElement, document.body])
    if (element && getComputedStyle(element).overflowY === 'hidden') element.style.setProperty('overflow', 'visible', 'important');
})()`;

/** Scrolls down once, so that lazy content is loaded, and waits a little for images. */
export const scrollThrough = `(async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const height = () => Math.max(document.documentElement?.scrollHeight ?? 0, document.body?.scrollHeight ?? 0);
  const lazy = [...document.images].some((image) => image.loading === 'lazy' || !image.complete) || document.querySelector('[data-src], [data-lazy]');
  if (lazy) {
    for (let step = 0, top = 0; step < 60 && top < height(); step++, top += innerHeight) { scrollTo(0, top); await pause(30); }
    scrollTo(0, 0);
    for (let step = 0; step < 50 && [...document.images].some((image) => !image.complete); step++) await pause(100);
  }
})()`;

/**
 * Waits a little for the fonts of the text, which layout starts to load. Does not wait for loaded fonts, because that takes
 * until the next frame is drawn.
 */
export const fontsLoaded = `(async () => {
  document.documentElement?.getBoundingClientRect();
  if (document.fonts?.status === 'loading')
    await Promise.race([document.fonts.ready, new Promise((done) => setTimeout(done, 3000))]);
})()`;

/** Writes the state of the page into its elements: form input, selections and canvas content. */
export const keepState = `(() => {
  const roots = [document];
  for (const root of roots) for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) roots.push(element.shadowRoot);
    const name = element.localName;
    if (name === 'input' && element.type !== 'password' && element.type !== 'file') {
      element.setAttribute('value', element.value);
      element.toggleAttribute('checked', element.checked);
    } else if (name === 'textarea') element.textContent = element.value;
    else if (name === 'option') element.toggleAttribute('selected', element.selected);
    else if (name === 'canvas') {
      try {
        const image = document.createElement('img');
        for (const { name, value } of element.attributes) image.setAttribute(name, value);
        image.style.cssText = element.style.cssText;
        image.src = element.toDataURL();
        element.replaceWith(image);
      } catch { /* A canvas with pixels of another site may not be read. */ }
    }
  }
})()`;

/** Joins scripts into one that runs them in turn, because each evaluation is a round trip to the page. */
export function inTurn(scripts: string[]): string {
  return `(async () => { ${scripts.map((script) => `await ${script};`).join(' ')} })()`;
}
