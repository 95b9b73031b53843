//! The account of a person: its passkeys, and recovery words.

pub mod recovery;

use askama::Template;
use selfsame_catalogue::when;

/// A passkey in the list.
pub struct ListedPasskey {
    /// The id of its record.
    pub id: String,
    /// The name that its person gave it.
    pub name: String,
    /// When it was added, as RFC 3339.
    pub added: String,
    /// When it was last signed in with.
    pub used: Option<String>,
    /// Whether it is on several devices.
    pub is_copied: bool,
}

/// The content of the page of an account.
#[derive(Template)]
#[template(path = "account.html")]
pub struct AccountContent {
    /// What the paths of these pages begin with: `/wallet` or `/operator`.
    pub root: &'static str,
    /// The form token.
    pub form: String,
    /// The address of the account.
    pub email: String,
    /// Whether browsers have passkeys at this instance.
    pub has_passkeys: bool,
    /// The passkeys.
    pub passkeys: Vec<ListedPasskey>,
    /// Whether the account has an authenticator app; `None` where sign-ins ask for none.
    pub has_app: Option<bool>,
    /// The name that was typed.
    pub name: String,
    /// What the person can correct.
    pub problem: Option<String>,
}

/// The content of the page on which a browser creates a passkey.
#[derive(Template)]
#[template(path = "new_passkey.html")]
pub struct NewPasskeyContent {
    /// What the paths of these pages begin with.
    pub root: &'static str,
    /// The form token.
    pub form: String,
    /// The name of the passkey.
    pub name: String,
    /// What the browser is asked, as JSON.
    pub options: String,
}

/// The content of the page on which an authenticator app is added.
#[derive(Template)]
#[template(path = "new_app.html")]
pub struct NewAppContent {
    /// What the paths of these pages begin with.
    pub root: &'static str,
    /// The form token.
    pub form: String,
    /// What the app reads, as a QR code in SVG.
    pub code: String,
    /// The secret, as it is typed in.
    pub secret: String,
    /// What the person can correct.
    pub problem: Option<&'static str>,
}

impl ListedPasskey {
    /// When it was added, for people.
    fn added(&self) -> String {
        when::short(&self.added)
    }

    /// When it was last used, for people.
    fn used(used: &str) -> String {
        when::short(used)
    }
}

impl AccountContent {
    /// Whether it is the account of a person with a wallet, among whose pages it is.
    fn is_wallets(&self) -> bool {
        self.root == "/wallet"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(names: &[&str]) -> AccountContent {
        let listed = |name: &&str| ListedPasskey {
            id: "id".to_owned(),
            name: (*name).to_owned(),
            added: "2026-01-02T03:04:05Z".to_owned(),
            used: None,
            is_copied: false,
        };
        AccountContent {
            root: "/wallet",
            form: "token".to_owned(),
            email: "maja@example.org".to_owned(),
            has_passkeys: true,
            has_app: None,
            passkeys: names.iter().map(listed).collect(),
            name: String::new(),
            problem: None,
        }
    }

    #[test]
    fn an_account_without_passkeys_says_what_they_are_and_how_to_add_one() {
        let page = content(&[]).render().unwrap();
        assert!(page.contains("No passkeys yet"));
        assert!(page.contains(r#"action="/wallet/account/passkeys""#));
        let none = AccountContent {
            has_passkeys: false,
            ..content(&[])
        };
        let page = none.render().unwrap();
        assert!(!page.contains("/account/passkeys\"") && page.contains("domain name"));
    }

    #[test]
    fn an_app_is_added_and_removed_with_the_password_where_sign_ins_ask_for_one() {
        let page = |has_app| AccountContent {
            has_app,
            ..content(&[])
        };
        assert!(!page(None).render().unwrap().contains("Authenticator app"));
        let without = page(Some(false)).render().unwrap();
        assert!(
            without.contains("action=\"/wallet/account/app\""),
            "{without}"
        );
        let with = page(Some(true)).render().unwrap();
        assert!(
            with.contains("action=\"/wallet/account/app/remove\""),
            "{with}"
        );
        for shown in [without, with] {
            assert!(
                shown.contains("for=\"app-password\"") && shown.contains("id=\"app-password\"")
            );
        }
    }

    #[test]
    fn names_and_options_are_text_and_no_markup() {
        let page = content(&["<b>Phone</b>"]).render().unwrap();
        assert!(page.contains("&#60;b&#62;Phone") && page.contains("never"));
        let page = NewPasskeyContent {
            root: "/operator",
            form: "token".to_owned(),
            name: "\"><script>".to_owned(),
            options: r#"{"rp":"'\"<"}"#.to_owned(),
        };
        let page = page.render().unwrap();
        assert!(!page.contains("<script") && page.contains("data-options"));
    }
}
