//! Recovery words on the pages of a wallet: new words, a copy under them, and the wallet restored from it.

use http::StatusCode;

use super::instance::{Answered, Instance, form, get, post};
use super::types::{Upload, form_with};

const PASSWORD: &str = "a long password";

/// A person with a wallet, on the pages of recovery.
struct Holder {
    instance: Instance,
    cookie: String,
}

impl Holder {
    async fn new() -> Self {
        let instance = Instance::start().await;
        let cookie = instance.person_cookie("maja@example.org").await;
        Self { instance, cookie }
    }

    async fn token(&self) -> String {
        let page = get("/wallet/recovery").cookie(&self.cookie);
        let page = self.instance.call(page).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        page.form_token()
    }

    /// Makes new words, as the page shows them.
    async fn words(&self) -> Vec<String> {
        let token = self.token().await;
        let sent = post("/wallet/recovery/words").cookie(&self.cookie);
        let sent = sent.form(form(&[("form_token", token.as_str())]));
        let page = self.instance.call(sent).await;
        assert_eq!(page.header("cache-control"), "no-store");
        let items = page.body.split("<li>").skip(1);
        let words = items.filter_map(|item| Some(item.split_once("</li>")?.0.to_owned()));
        words.filter(|word| !word.contains('<')).collect()
    }

    async fn copy(&self, words: &str, password: &str) -> Answered {
        let token = self.token().await;
        let fields = [
            ("form_token", token.as_str()),
            ("words", words),
            ("password", password),
        ];
        let sent = post("/wallet/recovery/copy").cookie(&self.cookie);
        self.instance.call(sent.form(form(&fields))).await
    }

    async fn restore(&self, words: &str, file: &str) -> Answered {
        let token = self.token().await;
        let fields = [("form_token", token.as_str()), ("words", words)];
        let upload = Upload {
            field: "file",
            name: "cards.ndjson",
            text: file,
        };
        let sent = post("/wallet/recovery/restore").cookie(&self.cookie);
        let sent = sent.multipart(form_with(&fields, Some(upload)));
        self.instance.call(sent).await
    }
}

#[tokio::test]
async fn a_copy_is_made_under_new_words_and_restored_with_them_typed_in_any_form() {
    let holder = Holder::new().await;
    let words = holder.words().await;
    assert_eq!(words.len(), selfsame_recovery::COUNT, "{words:?}");
    let copy = holder.copy(&words.join("\n"), PASSWORD).await;
    assert_eq!(copy.status, StatusCode::OK, "{}", copy.body);
    assert_eq!(copy.header("cache-control"), "no-store");
    assert!(copy.body.ends_with("{\"end\":0}\n"), "{}", copy.body);
    let typed: Vec<String> = words
        .iter()
        .map(|word| word.chars().take(4).collect::<String>().to_uppercase())
        .collect();
    let restored = holder.restore(&typed.join("  "), &copy.body).await;
    assert!(
        restored.body.contains("0 cards are restored"),
        "{}",
        restored.body
    );
    assert_ne!(holder.words().await, words, "words are made anew");
}

#[tokio::test]
async fn wrong_words_passwords_and_files_are_named_and_restore_nothing() {
    let holder = Holder::new().await;
    let words = holder.words().await;
    let mut wrong = words.clone();
    wrong[6] = "selfsame".to_owned();
    for (words, told) in [
        (wrong.join(" "), "Word 7 is not a recovery word"),
        (String::new(), "There are 15 recovery words"),
    ] {
        for answer in [
            holder.copy(&words, PASSWORD).await,
            holder.restore(&words, "").await,
        ] {
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
            assert!(answer.body.contains(told), "{told}: {}", answer.body);
        }
    }
    let words = words.join(" ");
    let refused = holder.copy(&words, "not my password").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    assert!(refused.body.contains("Wrong password."), "{}", refused.body);
    for (file, told) in [
        ("no export", "Line 1 is not the head of an export"),
        (
            r#"{"selfsame_wallet":1,"stretching":"x","sealed_key":"y"}"#,
            "sealed under a passphrase",
        ),
        (
            r#"{"selfsame_wallet":1,"words":"x","sealed_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            "do not open this file",
        ),
    ] {
        let refused = holder.restore(&words, file).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
        assert!(refused.body.contains(told), "{told}: {}", refused.body);
    }
}
