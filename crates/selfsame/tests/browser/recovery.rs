//! A phone is lost, and the wallet comes back on another instance by its words and a copy of its cards.

use crate::browser::{Browser, Scheme};
use crate::instance::Instance;
use crate::walk::{Desk, PASSWORD, PURPOSE, Phone};

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_lost_phone_s_wallet_comes_back_on_another_instance_by_its_words() {
    let (desk, phone) = (
        Browser::start(Scheme::Light).await,
        Browser::start(Scheme::Light).await,
    );
    let first = Instance::start().await;
    let desk = Desk::open(&first, &desk).await;
    let phone = Phone::open(&first, &phone).await;
    phone
        .accept(
            &desk.offer("Immunization record").await,
            "Immunization record",
        )
        .await;

    phone.1.press("Account").await;
    phone.1.press("Words and copies").await;
    phone.1.press("Make new words").await;
    phone.1.expect("They are shown once.").await;
    let words = "return [...document.querySelectorAll('.recovery-words li')].map(e => e.innerText).join(' ')";
    let words = phone.1.evaluate(words).await;
    let words = words.as_str().unwrap();
    assert_eq!(words.split(' ').count(), 15, "{words}");
    phone.1.set("#copy-words", words).await;
    phone.1.set("#password", PASSWORD).await;
    phone.1.keep_downloads().await;
    phone.1.press("Download the copy").await;
    let copy = phone.1.downloaded("cards.ndjson").await;
    phone.1.expect_no_errors().await;

    let origin = first.origin.trim_end_matches('/');
    let trusting = format!("[trust]\norigins = [\"{origin}\"]\n");
    let other = Instance::with(&trusting).await;
    let new_phone = Browser::start(Scheme::Dark).await;
    let new_phone = Phone::open(&other, &new_phone).await;
    let restore = async |words: &str| {
        new_phone.1.open(&other.page("wallet/recovery")).await;
        new_phone.1.set("#file", &copy.display().to_string()).await;
        new_phone.1.set("#restore-words", words).await;
        new_phone.1.press("Restore the cards").await;
    };
    let second = words.split(' ').nth(1).unwrap();
    restore(&words.replacen(second, "selfsame", 1)).await;
    new_phone.1.expect("Word 2 is not a recovery word").await;
    restore(words).await;
    new_phone.1.expect("1 card is restored").await;
    new_phone.1.press("See the cards").await;
    new_phone.1.expect("Immunization record").await;

    // The card answers from there with the key that came along.
    let request = desk.ask(PURPOSE).await;
    new_phone.share(&request).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
}
