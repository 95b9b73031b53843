//! One revocation registry: how full it is, what is revoked or to be revoked, and how it differs from the ledger.

use askama::Template;
use selfsame_anoncreds_wallet::{IssuanceState, IssuanceView, RegistryStage};
use selfsame_catalogue::english;
use selfsame_crypto::time::UnixTime;

use crate::PageBase;
use crate::difference::sentences;
use crate::registries::{Comparison, RegistryShown};
use crate::words::StateWords;

/// One registry.
#[derive(Template)]
#[template(path = "registry.html")]
pub struct RegistryContent {
    /// What all pages have.
    pub base: PageBase,
    /// The registry.
    pub shown: RegistryShown,
    /// The credentials that have a place in it, newest first.
    pub issued: Vec<IssuanceView>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// What was just done.
    pub done: Option<RegistryAct>,
}

/// What was just done with a registry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RegistryAct {
    /// A credential was revoked, and the ledger has it.
    Revoked,
    /// A credential was noted to be revoked.
    Noted,
    /// Pending revocations were published.
    Published,
    /// Pending revocations were taken back.
    Cleared,
}

impl RegistryAct {
    /// The act with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "revoked" => Self::Revoked,
            "noted" => Self::Noted,
            "published" => Self::Published,
            "cleared" => Self::Cleared,
            _ => return None,
        })
    }

    fn told(self) -> &'static str {
        match self {
            Self::Revoked => "The credential is revoked, and the ledger has it.",
            Self::Noted => "The credential is noted. Publish the pending revocations to revoke it.",
            Self::Published => "The pending revocations are published, and the ledger has them.",
            Self::Cleared => "The pending revocations are taken back.",
        }
    }
}

impl RegistryContent {
    /// How it differs from the ledger, in sentences.
    fn differences(&self) -> Vec<String> {
        match &self.shown.compared {
            Comparison::Different(found) => sentences(&self.shown.view, found),
            _ => Vec::new(),
        }
    }

    /// When it was begun, in UTC.
    fn begun(&self) -> String {
        UnixTime(self.shown.view.begun).rfc3339()
    }

    /// When the ledger confirmed its last entry, in UTC; `None` before the first.
    fn changed(&self) -> Option<String> {
        let changed = self.shown.view.changed;
        (changed > 0).then(|| UnixTime(changed).rfc3339())
    }

    fn failure(&self) -> Option<String> {
        match &self.shown.view.stage {
            RegistryStage::Failed(reason) => Some(english(reason)),
            _ => None,
        }
    }

    /// Whether a credential in it can be revoked now.
    fn can_revoke(&self) -> bool {
        let stage = &self.shown.view.stage;
        let is_published = matches!(
            stage,
            RegistryStage::Ready | RegistryStage::Full | RegistryStage::Decommissioned
        );
        self.base.rights.revoke && is_published
    }
}

/// The state of a credential in words.
fn state(issued: &IssuanceView) -> StateWords {
    let (class, words) = match issued.state {
        IssuanceState::Issued => ("active", "valid"),
        IssuanceState::Pending => ("pending", "to be revoked"),
        IssuanceState::Revoked => ("revoked", "revoked"),
    };
    StateWords { class, words }
}

/// When a credential was issued, in UTC.
fn time(issued: &IssuanceView) -> String {
    UnixTime(issued.issued).rfc3339()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use selfsame_anoncreds_wallet::revocation::RegistryDifference;

    use super::*;
    use crate::PageRights;
    use crate::registries::tests::shown;

    fn content(stage: RegistryStage, compared: Comparison) -> RegistryContent {
        let issuance = |cred_rev_id, state| IssuanceView {
            rev_reg_id: "did:example:1/registry/1".to_owned(),
            cred_rev_id,
            cred_def_id: "did:example:1/definition".to_owned(),
            exchange: Some("x1".to_owned()),
            issued: 1_764_408_600,
            state,
        };
        RegistryContent {
            base: PageBase {
                form: "token".to_owned(),
                rights: PageRights::ALL,
                ..PageBase::default()
            },
            shown: shown(stage, 4, compared),
            issued: vec![
                issuance(4, IssuanceState::Pending),
                issuance(2, IssuanceState::Revoked),
                issuance(1, IssuanceState::Issued),
            ],
            next: None,
            done: None,
        }
    }

    #[test]
    fn only_a_valid_credential_of_a_published_registry_can_be_revoked() {
        let page = content(RegistryStage::Full, Comparison::Same)
            .render()
            .unwrap();
        assert_eq!(page.matches("Revoke it").count(), 1, "{page}");
        assert!(
            page.contains("value=\"1\"") && page.contains("Publish them"),
            "{page}"
        );
        let making = content(RegistryStage::Sending, Comparison::Unpublished);
        assert!(!making.render().unwrap().contains("Revoke it"));
        let mut looking = content(RegistryStage::Ready, Comparison::Same);
        looking.base.rights.revoke = false;
        assert!(!looking.render().unwrap().contains("<form"));
    }

    #[test]
    fn a_difference_is_explained() {
        let found = RegistryDifference {
            only_ledger: BTreeSet::new(),
            only_here: BTreeSet::new(),
            unwritten: BTreeSet::from([7]),
            entries: 2,
            waiting_since: Some(1_764_408_600),
            refused: None,
        };
        let page = content(RegistryStage::Ready, Comparison::Different(found));
        let page = page.render().unwrap();
        assert!(
            page.contains("place 7") && page.contains("waits for the ledger’s answer"),
            "{page}"
        );
        let same = content(RegistryStage::Ready, Comparison::Same)
            .render()
            .unwrap();
        assert!(same.contains("The ledger has the same"), "{same}");
        let away = content(
            RegistryStage::Ready,
            Comparison::Unknown("it is away".to_owned()),
        );
        assert!(away.render().unwrap().contains("it is away"));
    }
}
