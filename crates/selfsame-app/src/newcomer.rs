//! Registers the DIDs of others, as a DID of this instance that has a role in the registry.

use selfsame_core::dids::Author;
use selfsame_core::identity::KEY_FRAGMENT;
use selfsame_core::newcomer::{Consent, Newcomer, Registered};
use selfsame_crypto::KeyHandle;
use selfsame_crypto::encoding::hex_encode;
use selfsame_did::{Did, Options, selfsame};
use selfsame_driver::{Error, ErrorKind, Result, keys};
use selfsame_ledger::Ledger;
use selfsame_registry::network::{Acceptance, Agreement};
use selfsame_registry::transaction::Body;
use selfsame_registry::{Identifier, Operation, Transaction, UnsignedTransaction};

use crate::app::App;

/// Seconds of a day. An acceptance is dated in days.
const DAY: u64 = 86_400;

/// The author agreement in force.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Its version.
    pub version: String,
    /// SHA-256 of its text, hexadecimal.
    pub digest: String,
}

impl App {
    /// Registers the DID of another party, with its role, and waits for the receipt. An existing DID is not changed.
    ///
    /// # Errors
    /// `BadRequest` if the DID is not the key's; `Forbidden` if no DID of this instance has a role, or if the author
    /// agreement in force was not accepted; `Conflict` if another agreement was accepted; the registry's errors.
    pub async fn register_newcomer(&self, newcomer: &Newcomer<'_>) -> Result<Registered> {
        let registry = self.registry()?;
        let ledger = registry
            .ledger()
            .ok_or_else(|| Error::bad_request("registry-not-here"))?;
        let subject = subject(ledger, newcomer)?;
        let did = ledger.machine().did(subject);
        let did = did.ok_or_else(|| Error::internal("an identifier does not form a DID"))?;
        let id = subject.to_string();
        let present = ledger.resolve(&did, &Options::default());
        if present.document.is_some() || present.document_metadata.deactivated {
            let existed = true;
            return Ok(Registered { did, id, existed });
        }
        let mut operations = vec![Operation::RegisterDid {
            subject,
            key: newcomer.key.clone(),
            consent: signature(newcomer, ledger, subject)?,
        }];
        if newcomer.role.is_some() {
            let role = newcomer.role;
            operations.push(Operation::SetRole { subject, role });
        }
        let registrar = self.registrar(ledger).await?;
        let agreement = self.acceptance(ledger, newcomer.accepts)?;
        let transaction = self.registration(&registrar, operations, agreement).await?;
        self.dids().write(&registrar, &transaction).await?;
        let existed = false;
        Ok(Registered { did, id, existed })
    }

    /// The author agreement of the registry that runs here; `None` if that registry has no agreement, or runs elsewhere.
    ///
    /// # Errors
    /// `BadRequest` if this instance has no registry, `Internal` if the agreement can't be read.
    pub fn agreement_in_force(&self) -> Result<Option<InForce>> {
        let registry = self.registry()?;
        let agreement = registry.ledger().map(in_force).transpose()?.flatten();
        Ok(agreement.map(|agreement| InForce {
            version: agreement.version,
            digest: hex_encode(&agreement.digest),
        }))
    }

    /// Today's acceptance of the agreement with this version. Without a version, the registry decides and says why.
    fn acceptance(&self, ledger: &Ledger, version: Option<&str>) -> Result<Option<Acceptance>> {
        let Some(version) = version else {
            return Ok(None);
        };
        let agreement = in_force(ledger)?.filter(|agreement| agreement.version == version);
        let agreement =
            agreement.ok_or_else(|| Error::new(ErrorKind::Conflict, "agreement-not-in-force"))?;
        let mechanism = agreement.mechanisms.into_iter().next();
        Ok(mechanism.map(|mechanism| Acceptance {
            version: agreement.version,
            digest: agreement.digest,
            mechanism,
            day: self.shared.clock.now().0 / DAY,
        }))
    }

    /// A member of the registry whose key is here: the trustee of an embedded network's genesis, or one of this
    /// instance's DIDs.
    async fn registrar(&self, ledger: &Ledger) -> Result<Author> {
        let machine = ledger.machine();
        let has_role = |did: &Did| -> Result<bool> {
            let role = machine.role(ledger, did).map_err(Error::internal)?;
            Ok(role.is_some())
        };
        let tenant = selfsame_ledger::tenant()?;
        for member in ledger.genesis().members() {
            let key = KeyHandle::of(&member.key);
            let held = self.shared.store.read(&tenant, keys::KIND, key.as_str());
            let did = member.id().and_then(|id| machine.did(id));
            if let (Some(did), Some(_)) = (did, held.await?)
                && has_role(&did)?
            {
                let fragment = KEY_FRAGMENT.to_owned();
                return Ok(Author {
                    tenant,
                    did,
                    key,
                    fragment,
                });
            }
        }
        for author in self.dids().authors().await? {
            if has_role(&author.did)? {
                return Ok(author);
            }
        }
        Err(Error::new(ErrorKind::Forbidden, "endorser-absent"))
    }

    async fn registration(
        &self,
        registrar: &Author,
        operations: Vec<Operation>,
        agreement: Option<Acceptance>,
    ) -> Result<Transaction> {
        let not_ours = || Error::internal("a member's DID is not a did:selfsame");
        let (network, _) = selfsame::parts(&registrar.did).ok_or_else(not_ours)?;
        let author = Identifier::of_did(&registrar.did, &network).ok_or_else(not_ours)?;
        let nonce = u64::from_be_bytes(self.shared.clock.ctx().random::<8>("nonce"));
        let body = Body {
            agreement,
            ..Body::new(&network, author, nonce, operations)
        };
        let unsigned = UnsignedTransaction::of(body);
        let signature = self
            .shared
            .keys
            .sign(&registrar.tenant, &registrar.key, unsigned.signing_bytes())
            .await?;
        unsigned
            .signed(&registrar.fragment, &signature)
            .map_err(Error::internal)
    }
}

fn in_force(ledger: &Ledger) -> Result<Option<Agreement>> {
    let set = ledger
        .machine()
        .agreement(ledger)
        .map_err(Error::internal)?;
    Ok(set.and_then(|set| set.agreement))
}

/// The signature that the identifier needs.
fn signature(
    newcomer: &Newcomer<'_>,
    ledger: &Ledger,
    subject: Identifier,
) -> Result<Option<[u8; 64]>> {
    if Identifier::of_key(newcomer.key) == Some(subject) {
        return Ok(None);
    }
    let signed = subject.consent_bytes(ledger.machine().network().as_str());
    let needed = || Error::bad_request("identifier-needs-signature");
    match newcomer.consent {
        Consent::None => Err(needed()),
        Consent::Key(key) => {
            let signature = key.sign(&signed).map_err(Error::internal)?;
            let signature: [u8; 64] = signature.try_into().map_err(|_| needed())?;
            Ok(Some(signature))
        }
        Consent::Signature(signature) => {
            let algorithm = newcomer.key.key_type().default_algorithm();
            let good = newcomer.key.verify(algorithm, &signed, signature);
            good.map_err(|_| needed())?;
            Ok(Some(*signature))
        }
    }
}

/// The identifier, if it is made of the key.
fn subject(ledger: &Ledger, newcomer: &Newcomer<'_>) -> Result<Identifier> {
    let own = Identifier::of_key(newcomer.key);
    let indy = Identifier::of_seed_key(newcomer.key);
    let prefix = selfsame::prefix(ledger.machine().network().as_str());
    let found = match (newcomer.did, newcomer.consent) {
        (None, Consent::None) => own,
        (None, _) => indy.or(own),
        (Some(did), _) => {
            let id = did.strip_prefix(&prefix).unwrap_or(did);
            let ids = [own, indy].into_iter().flatten();
            ids.into_iter().find(|own| own.to_string() == id)
        }
    };
    found.ok_or_else(|| Error::bad_request("did-not-of-key"))
}
