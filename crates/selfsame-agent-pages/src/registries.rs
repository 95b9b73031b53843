//! The revocation registries of an agent's credential definitions.

use askama::Template;
use selfsame_anoncreds_wallet::revocation::RegistryDifference;
use selfsame_anoncreds_wallet::{RegistryStage, RegistryView};

use crate::words::StateWords;
use crate::{PageBase, picture};

/// A registry with how full it is, and how it differs from the ledger.
pub struct RegistryShown {
    /// The registry.
    pub view: RegistryView,
    /// How many of its places are given out.
    pub given_out: u32,
    /// How it differs from what the ledger has.
    pub compared: Comparison,
}

/// What a comparison with the ledger found.
pub enum Comparison {
    /// Both are equal.
    Same,
    /// They differ.
    Different(RegistryDifference),
    /// The ledger does not have the registry yet.
    Unpublished,
    /// The ledger could not be asked, for this reason.
    Unknown(String),
}

/// The registries of one credential definition.
pub struct DefinitionShown {
    /// The definition.
    pub cred_def_id: String,
    /// Its registries, the newest first.
    pub registries: Vec<RegistryShown>,
}

/// The registries of an agent.
#[derive(Template)]
#[template(path = "registries.html")]
pub struct RegistriesContent {
    /// What all pages have.
    pub base: PageBase,
    /// The definitions with their registries.
    pub definitions: Vec<DefinitionShown>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

impl RegistryShown {
    /// How many places can be given out: the first and the last can't.
    pub(crate) fn room(&self) -> u32 {
        self.view.size.saturating_sub(1)
    }

    /// The next place that is given out; `None` if the registry is full.
    pub(crate) fn next_place(&self) -> Option<u32> {
        let next = self.given_out.saturating_add(1);
        let is_open = self.view.stage == RegistryStage::Ready;
        (is_open && next <= self.room()).then_some(next)
    }

    /// The bar of how full it is.
    pub(crate) fn bar(&self) -> String {
        picture::fill(self.given_out, self.room())
    }

    /// Its state in words.
    pub(crate) fn state(&self) -> StateWords {
        let (class, words) = match self.view.stage {
            RegistryStage::Preparing => ("preparing", "being made"),
            RegistryStage::Endorsing => ("waiting", "waits for its endorser"),
            RegistryStage::Sending => ("preparing", "being published"),
            RegistryStage::Ready if self.given_out == 0 => ("active", "in reserve"),
            RegistryStage::Ready => ("active", "in use"),
            RegistryStage::Full => ("full", "full"),
            RegistryStage::Decommissioned => ("retired", "retired"),
            RegistryStage::Failed(_) => ("failed", "failed"),
        };
        StateWords { class, words }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::PageRights;

    /// A registry of 1,000 places.
    pub fn shown(stage: RegistryStage, given_out: u32, compared: Comparison) -> RegistryShown {
        RegistryShown {
            view: RegistryView {
                rev_reg_id: "did:example:1/registry/1".to_owned(),
                cred_def_id: "did:example:1/definition".to_owned(),
                number: 1,
                issuer_id: "did:example:1".to_owned(),
                stage,
                size: 1_000,
                begun: 1_764_408_600,
                tails_hash: Some("hash".to_owned()),
                revoked: BTreeSet::from([2]),
                pending: BTreeSet::from([3, 4]),
                writing: BTreeSet::new(),
                entries: 2,
                changed: 1_764_408_600,
            },
            given_out,
            compared,
        }
    }

    #[test]
    fn each_registry_is_shown_with_its_fill_level_and_the_next_place() {
        let registry = shown(RegistryStage::Ready, 41, Comparison::Same);
        assert_eq!(registry.next_place(), Some(42));
        assert_eq!(registry.state().words, "in use");
        let reserve = shown(RegistryStage::Ready, 0, Comparison::Same);
        assert_eq!(reserve.state().words, "in reserve");
        assert_eq!(
            shown(RegistryStage::Ready, 999, Comparison::Same).next_place(),
            None
        );
        assert_eq!(
            shown(RegistryStage::Full, 41, Comparison::Same).next_place(),
            None
        );
        let content = RegistriesContent {
            base: PageBase {
                here: "/o/acme".to_owned(),
                rights: PageRights::ALL,
                ..PageBase::default()
            },
            definitions: vec![DefinitionShown {
                cred_def_id: "did:example:1/definition".to_owned(),
                registries: vec![registry],
            }],
            next: None,
        };
        let page = content.render().unwrap();
        assert!(
            page.contains("41 of 999") && page.contains("next: place 42"),
            "{page}"
        );
        assert!(
            page.contains("id=did%3Aexample%3A1%2Fregistry%2F1"),
            "{page}"
        );
        assert!(
            page.contains("2 pending") && page.contains("1 revoked"),
            "{page}"
        );
        let none = RegistriesContent {
            definitions: Vec::new(),
            ..content
        };
        assert!(none.render().unwrap().contains("support_revocation"));
    }
}
