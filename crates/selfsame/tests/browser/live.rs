//! How pages cope with problems: an answer that does not arrive, a session that has ended.

use std::time::Duration;

use serde_json::json;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    walk::{Desk, PURPOSE},
};

/// Sends a form whose answer never arrives: twice, twice after Escape, and once after the time-out.
const SENDS: &str = "
let sent = 0;
addEventListener('submit', event => { if (!event.defaultPrevented) sent++; event.preventDefault(); });
const form = document.querySelector('form[action=\"/wallet/sign-in\"]');
form.noValidate = true;
const send = () => { form.requestSubmit(); return sent; };
const counts = [send(), send()];
document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
counts.push(send(), send());
await new Promise(resolve => setTimeout(resolve, 8500));
counts.push(send());
return counts;";

/// Follows a stream for which a proxy returns an error at first.
const FAILING: &str = "
const address = document.querySelector('script[type=module]').src.replace('app.js', 'stream.js');
const { whileSeen } = await import(address);
const opened = [], asked = [];
window.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 0;
  constructor() { super(); opened.push(this); }
  close() { this.readyState = 2; }
};
window.fetch = async (address, options) => {
  asked.push(options.method);
  return new Response(null, { status: asked.length === 1 ? 502 : 200 });
};
const end = whileSeen('/somewhere', () => {});
opened[0].dispatchEvent(new Event('error'));
const untouched = opened.length;
opened[0].readyState = 2;
opened[0].dispatchEvent(new Event('error'));
for (let i = 0; i < 600 && opened.length < 2; i++) await new Promise(resolve => setTimeout(resolve, 100));
end();
return [untouched, opened.length, asked.length, opened[1].readyState];";

const SIGNS_OUT: &str = "
const token = document.querySelector('[name=form_token]').value;
await fetch('/operator/sign-out', { method: 'POST', headers: { 'x-form-token': token } });
dispatchEvent(new Event('pagehide'));
dispatchEvent(new Event('pageshow'));";

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_form_is_sent_once_and_again_by_who_has_stopped_it() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&instance.page("wallet/sign-in")).await;
    assert_eq!(browser.evaluate(SENDS).await, json!([1, 1, 2, 2, 3]));
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_asks_again_for_events_that_were_refused_and_leads_to_the_door_without_a_session() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&instance.page("resolver")).await;
    assert_eq!(browser.evaluate(FAILING).await, json!([1, 2, 2, 2]));

    let desk = Desk::open(&instance, &browser).await;
    desk.ask(PURPOSE).await;
    browser.evaluate(SIGNS_OUT).await;
    assert!(
        browser
            .sees("operator token", Duration::from_secs(60))
            .await,
        "the page waits on without a session"
    );
}
