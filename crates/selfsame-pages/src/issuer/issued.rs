//! An issued credential: its line in the list, and its page, which asks before its status changes.

use askama::Template;
use selfsame_openid::view::issuer::{CredentialStatus, IssuedCredential};
use selfsame_openid::view::uses::CredentialUse;
use selfsame_types::TypeSet;

use crate::Frame;

/// An issued credential, and what can be done with it.
pub struct IssuedRow {
    /// Its id in the issuer's records.
    pub id: String,
    /// The title of its type.
    pub title: String,
    /// Its format.
    pub format: String,
    /// Its number in the status list.
    pub index: u64,
    /// The issuer's note, such as whose it is.
    pub label: Option<String>,
    /// When it was issued, RFC 3339.
    pub issued: String,
    /// Until when it is valid, RFC 3339.
    pub expires: String,
    /// Its status in a word.
    pub status: &'static str,
    /// Whether the served status list shows this status.
    pub published: bool,
    /// Its use or its revocation by a delegate.
    pub used: Option<CredentialUse>,
    /// Within how many seconds verifiers see a change.
    within: u64,
    /// Whether the type allows these changes.
    revocable: bool,
    suspendable: bool,
}

/// A possible change of a credential's status.
pub struct StatusChange {
    /// The status that it leads to.
    pub status: &'static str,
    /// The button.
    pub label: &'static str,
    /// The button's class.
    pub class: &'static str,
}

const REVOKE: StatusChange = StatusChange {
    status: "revoked",
    label: "Revoke",
    class: "bad",
};
const SUSPEND: StatusChange = StatusChange {
    status: "suspended",
    label: "Suspend",
    class: "",
};
const REINSTATE: StatusChange = StatusChange {
    status: "valid",
    label: "Reinstate",
    class: "",
};

impl IssuedRow {
    /// The credential in the words of these types.
    pub fn of(one: IssuedCredential, types: &TypeSet) -> Self {
        let known = types.newest(&one.type_id);
        Self {
            title: types.title(&one.type_id).to_owned(),
            revocable: known.is_none_or(|known| known.revocable),
            suspendable: known.is_none_or(|known| known.suspendable),
            // A change is published within a second, and then served lists grow old.
            within: one.status_ttl.saturating_add(1),
            id: one.id,
            format: one.format,
            index: one.status_index,
            label: one.label,
            issued: one.issued,
            expires: one.expires,
            status: match (one.status, &one.used) {
                (CredentialStatus::Valid, Some(used)) if used.action == "spent" => "spent",
                (CredentialStatus::Valid, Some(_)) | (CredentialStatus::Revoked, _) => "revoked",
                (CredentialStatus::Valid, None) => "valid",
                (CredentialStatus::Suspended, _) => "suspended",
            },
            published: one.published,
            used: one.used,
        }
    }

    /// What can be done with it now.
    pub fn changes(&self) -> Vec<StatusChange> {
        let suspend = self.suspendable.then_some(SUSPEND);
        let revoke = self.revocable.then_some(REVOKE);
        match self.status {
            "valid" => suspend.into_iter().chain(revoke).collect(),
            "suspended" => std::iter::once(REINSTATE).chain(revoke).collect(),
            _ => Vec::new(),
        }
    }

    /// The credential in words: its type, and whose it is or else its number.
    fn named(&self) -> String {
        match &self.label {
            Some(label) => format!("“{}” of {label}", self.title),
            None => format!("“{}”, number {}", self.title, self.index),
        }
    }

    /// What follows from a change.
    fn consequence(&self, change: &StatusChange) -> String {
        let within = self.within;
        match change.status {
            "revoked" => {
                format!("Verifiers will refuse it within {within} seconds. It can’t be undone.")
            }
            "suspended" => {
                format!("Verifiers will refuse it within {within} seconds, until you reinstate it.")
            }
            _ => format!("Verifiers will accept it again within {within} seconds."),
        }
    }
}

/// An issued credential, with the question whether its status shall change.
#[derive(Template)]
#[template(path = "issuer_issued.html")]
pub struct IssuedPage {
    frame: Frame,
    one: IssuedRow,
    asked: Option<StatusChange>,
}

impl IssuedPage {
    /// The page of this credential. It asks for the change to `status`, if that is possible now.
    pub fn of(
        frame: Frame,
        types: &TypeSet,
        one: IssuedCredential,
        status: Option<CredentialStatus>,
    ) -> Self {
        let one = IssuedRow::of(one, types);
        let wanted = status.map(CredentialStatus::as_str);
        let mut changes = one.changes().into_iter();
        let asked = changes.find(|change| Some(change.status) == wanted);
        let title = match &asked {
            Some(change) => format!("{} {}?", change.label, one.named()),
            None => one.named(),
        };
        Self {
            frame: frame.titled(title),
            one,
            asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(label: Option<&str>, status: &str, asked: Option<CredentialStatus>) -> String {
        let one = serde_json::json!({
            "id": "one", "type": "hospital-badge", "format": "dc+sd-jwt", "offer": "offer",
            "issued": "2026-11-20T10:00:00Z", "expires": "2027-11-20T10:00:00Z",
            "status": status, "published": true, "status_list": "https://clinic.example/status/0",
            "status_index": 27841, "status_ttl": 60, "label": label,
        });
        let one = serde_json::from_value(one).unwrap();
        let page = IssuedPage::of(Frame::of_visitor(), &TypeSet::default(), one, asked);
        page.render().unwrap()
    }

    #[test]
    fn the_question_names_the_person_and_the_type_and_says_what_follows() {
        let revoke = Some(CredentialStatus::Revoked);
        let page = shown(Some("Ada Lovelace"), "valid", revoke);
        for said in [
            "Revoke <bdi>“hospital-badge” of Ada Lovelace</bdi>?",
            "<time datetime=\"2026-11-20T10:00:00Z\">",
            "refuse it within 61 seconds. It can’t be undone.",
            "action=\"/issuer/issued/one/status\"",
            "name=\"status\" value=\"revoked\"",
            "Cancel",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
        assert!(shown(None, "valid", revoke).contains("“hospital-badge”, number 27841"));
        let suspend = shown(None, "valid", Some(CredentialStatus::Suspended));
        assert!(suspend.contains("until you reinstate it") && !suspend.contains("undone"));
        let reinstate = shown(None, "suspended", Some(CredentialStatus::Valid));
        assert!(reinstate.contains("accept it again within 61 seconds"));
    }

    #[test]
    fn nothing_is_asked_that_cannot_be_done() {
        for (status, asked) in [
            ("revoked", Some(CredentialStatus::Valid)),
            ("valid", Some(CredentialStatus::Valid)),
            ("valid", None),
        ] {
            let page = shown(None, status, asked);
            assert!(!page.contains("/status\""), "{status}: {page}");
        }
        assert!(shown(None, "valid", None).contains("?to=revoked"));
        assert!(!shown(None, "revoked", None).contains("?to="));
    }
}
