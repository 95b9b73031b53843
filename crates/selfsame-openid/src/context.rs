//! What the roles of one instance have beside the core: their settings, their certificates, and each other's names.

use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use async_trait::async_trait;
use selfsame_attester::WalletGate;
use selfsame_core::Shared;
use selfsame_core::certificate::Certificate;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::look::OrganisationLook;
use selfsame_core::organisation::{
    Organisation, OrganisationName, OrganisationRecord, Organisations,
};
use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_crypto::time::UnixTime;
use selfsame_document_signer::{CertifiedSigner, DocumentSigners, SignerFacts};
use selfsame_driver::Result;
use selfsame_store::Batch;
use selfsame_types::{CredentialType, OwnTypes, Owner, TypeSet, Types};

use crate::config::RolesConfig;

/// What the roles of one instance know of themselves and of each other.
pub struct Context {
    /// Their settings.
    pub(crate) config: Arc<RolesConfig>,
    /// The organisation that has the roles.
    pub(crate) organisation: Organisation,
    /// The credential types of every organisation.
    pub(crate) types: Arc<Types>,
    /// The issuer's certificate, if its SD-JWT VCs are signed by certificate.
    pub(crate) issuer_certificate: Option<Certificate>,
    /// The verifier's certificate, if it has one.
    pub(crate) verifier_certificate: Option<Certificate>,
    /// Its authority and document signer, for mobile documents.
    pub(crate) documents: DocumentSigners,
    /// What judges wallets that are attested, and who may attest keys.
    pub(crate) gate: Arc<WalletGate>,
    /// The issuer of the same organisation; set once it exists.
    pub(crate) own_issuer: OnceLock<OwnIssuer>,
    /// Makes the entries of the instance's own acts; set once the audit trail exists.
    pub(crate) own_acts: Arc<OnceLock<Box<OwnActEntry>>>,
    /// What was proven for applications; set once the instance is put together.
    pub(crate) proofs: Arc<OnceLock<Box<dyn HeldProofs>>>,
    /// What can change of the organisation.
    pub(crate) facts: RwLock<OrganisationFacts>,
}

/// An act of the instance itself in the name of an organisation.
#[derive(Clone, Debug)]
pub struct OwnAct {
    /// The organisation.
    pub organisation: OrganisationName,
    /// What was done.
    pub act: &'static str,
    /// On which object, in words.
    pub detail: String,
    /// Why it was refused, if it was.
    pub refused: Option<String>,
}

/// Makes the writes by which the audit trail gets an act.
pub type OwnActEntry = dyn Fn(OwnAct) -> Result<Batch> + Send + Sync;

/// What was proven for applications.
#[async_trait]
pub trait HeldProofs: Send + Sync {
    /// Judges again what was proven for an application.
    ///
    /// # Errors
    /// `Forbidden` once it no longer meets what the type needs.
    async fn judge(
        &self,
        organisation: &OrganisationName,
        application: &str,
        one: &CredentialType,
    ) -> Result<()>;
}

/// The issuer of an organisation, as its verifier knows it.
pub(crate) struct OwnIssuer {
    /// The names under which it issues.
    pub names: Vec<String>,
    pub identity: Arc<Identity>,
}

/// What can change of an organisation, as it was after a number of changes.
#[derive(Clone, Debug)]
pub(crate) struct OrganisationFacts {
    /// Its name for people.
    pub title: Arc<str>,
    /// Whether it issues the samples, if the instance has them.
    pub samples: bool,
    /// How it looks; that of the organisation that every instance has is read where it is needed.
    pub look: OrganisationLook,
    /// How often it was changed.
    pub changes: u64,
}

impl OrganisationFacts {
    /// Those of a record.
    pub fn of(record: &OrganisationRecord) -> Self {
        Self {
            title: record.title.as_str().into(),
            samples: record.samples,
            look: record.look.clone(),
            changes: record.changes,
        }
    }
}

impl Context {
    /// The organisation's name for people.
    pub(crate) fn title(&self) -> Arc<str> {
        self.facts().title.clone()
    }

    /// How the organisation looks now.
    pub(crate) async fn look(&self, shared: &Arc<Shared>) -> Result<OrganisationLook> {
        match self.organisation.name.is_main() {
            true => {
                let organisations = Organisations::new(shared.clone());
                organisations.look(&self.organisation.name).await
            }
            false => Ok(self.facts().look.clone()),
        }
    }

    /// From now on these facts hold, unless a later change has brought others.
    pub(crate) fn renew(&self, record: &OrganisationRecord) {
        if record.changes <= self.facts().changes {
            return;
        }
        let mut facts = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        if record.changes > facts.changes {
            *facts = OrganisationFacts::of(record);
        }
    }

    /// The provider of the organisation, if people get credentials by signing in there.
    pub(crate) fn sign_in(&self) -> Result<Option<String>> {
        let is_used = !self.config.issuer.by_sign_in.is_empty();
        let provider = is_used.then(|| self.organisation.url("oidc"));
        Ok(provider.transpose()?.map(Into::into))
    }

    /// The formats that it issues. By HAIP 1.0 §6.1.1 an SD-JWT VC needs a certificate, which not each organisation has.
    pub(crate) fn formats(&self) -> impl Iterator<Item = Format> + Clone {
        let issuing = &self.config.issuer;
        let lacks_certificate = issuing.profile.is_some() && self.issuer_certificate.is_none();
        let is_issued = move |format: &Format| {
            !lacks_certificate || format.describe().profile != Profile::SdJwtVc
        };
        issuing.formats.iter().copied().filter(is_issued)
    }

    /// Whether it issues a type. By HAIP 1.0 §4.1 each has a scope: people get it by signing in.
    pub(crate) fn issues(&self, one: &CredentialType) -> bool {
        self.config.issuer.profile.is_none() || self.is_by_sign_in(one)
    }

    /// Whether people get a type by signing in. For one that needs other credentials they apply.
    pub(crate) fn is_by_sign_in(&self, one: &CredentialType) -> bool {
        one.prerequisites.is_none() && self.config.issuer.by_sign_in.contains_key(&one.id)
    }

    fn facts(&self) -> RwLockReadGuard<'_, OrganisationFacts> {
        self.facts.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its document signer, for documents that are valid until this time.
    pub(crate) async fn document_signer(&self, until: UnixTime) -> Result<CertifiedSigner> {
        let facts = SignerFacts {
            country: &self.config.issuer.country,
            title: &self.title(),
            contact: self.organisation.base.as_str(),
        };
        self.documents.signer(&facts, until).await
    }

    /// The credential types that are issued and requested here.
    pub(crate) fn own_types(&self) -> OwnTypes<'_> {
        self.types.of(Owner {
            tenant: &self.organisation.issuer,
            base: &self.organisation.base,
            samples: self.facts().samples,
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
