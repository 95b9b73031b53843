//! What the roles of one instance have beside the core: their settings, their certificates, and each other's names.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use selfsame_core::certificate::Certificate;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::Organisation;
use selfsame_driver::Result;
use selfsame_types::{OwnTypes, Owner, TypeSet, Types};

use crate::config::RolesConfig;

/// What the roles of one instance know of themselves and of each other.
pub struct Context {
    /// Their settings.
    pub(crate) config: RolesConfig,
    /// The organisation that has the roles.
    pub(crate) organisation: Organisation,
    /// The credential types of every organisation.
    pub(crate) types: Arc<Types>,
    /// The issuer's certificate, if its SD-JWT VCs are signed by certificate.
    pub(crate) issuer_certificate: Option<Certificate>,
    /// The verifier's certificate, if it has one.
    pub(crate) verifier_certificate: Option<Certificate>,
    /// The issuer of the same organisation; set once it exists.
    pub(crate) own_issuer: OnceLock<OwnIssuer>,
    /// The organisation's name for people.
    pub(crate) title: RwLock<OrganisationTitle>,
}

/// The issuer of an organisation, as its verifier knows it.
pub(crate) struct OwnIssuer {
    /// The names under which it issues.
    pub names: Vec<String>,
    pub identity: Arc<Identity>,
}

/// An organisation's name for people, as it was after a number of changes.
#[derive(Clone, Debug)]
pub(crate) struct OrganisationTitle {
    text: Arc<str>,
    changes: u64,
}

impl OrganisationTitle {
    pub fn new(text: &str, changes: u64) -> RwLock<Self> {
        let text = text.into();
        RwLock::new(Self { text, changes })
    }
}

impl Context {
    /// The organisation's name for people.
    pub(crate) fn title(&self) -> Arc<str> {
        let title = self.title.read().unwrap_or_else(PoisonError::into_inner);
        title.text.clone()
    }

    /// From now on the organisation has this title, unless a later change has given it another one.
    pub(crate) fn retitle(&self, text: &str, changes: u64) {
        let known = self.title.read().unwrap_or_else(PoisonError::into_inner);
        let is_later = changes > known.changes;
        drop(known);
        if is_later {
            let mut title = self.title.write().unwrap_or_else(PoisonError::into_inner);
            if changes > title.changes {
                *title = OrganisationTitle {
                    text: text.into(),
                    changes,
                };
            }
        }
    }

    /// The credential types that are issued and requested here.
    pub(crate) fn own_types(&self) -> OwnTypes<'_> {
        self.types.of(Owner {
            tenant: &self.organisation.issuer,
            base: &self.organisation.base,
        })
    }

    /// The published ones of them, as they are now.
    pub(crate) async fn types_now(&self) -> Result<Arc<TypeSet>> {
        self.own_types().all().await
    }

    /// The names under which this organisation itself issues.
    pub(crate) fn own_issuers(&self) -> &[String] {
        self.own_issuer.get().map_or(&[], |own| &own.names)
    }
}
