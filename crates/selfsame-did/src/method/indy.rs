//! did:indy (Indy DID Method 1.0): identifiers of Indy ledgers, `did:indy:<namespace>:<id>`.
//!
//! The registry of this program is one, with the namespace `selfsame:<network>`: what it anchors by an identifier of Indy's
//! rules has this name beside its own. Other ledgers are left to another resolver.

use selfsame_crypto::encoding::{base58_decode, base58_encode};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PublicKey};

use crate::did::{Did, DidUrl};
use crate::document::{Document, KeyReference, Material, Relationship, VerificationMethod};
use crate::resolution::{Options, Resolution, ResolutionError};

use super::selfsame::{self, Network};
use super::{Method, Origin, ResolutionPlan};

/// did:indy in the table of methods.
pub const METHOD: Method = Method {
    name: "indy",
    origin: Origin::Resolver,
    plan: planned,
    read: None,
    anchored: Some(anchored),
    of_key: None,
    binary: None,
};

/// The primary name of our namespaces; the secondary one is the network's.
const OWN: &str = "selfsame";
/// The fragment of the ledger's key ("Base DIDDoc Template").
const VERKEY: &str = "#verkey";
/// The type of that key.
const VERKEY_TYPE: &str = "Ed25519VerificationKey2018";
/// The length in bytes of an identifier.
const ID_BYTES: usize = 16;
/// The hexadecimal digits of an identifier on a ledger of Besu.
const ADDRESS_DIGITS: usize = 40;

/// A did:indy by its parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IndyName<'a> {
    /// The ledger: its name, and behind a colon that of one beside it.
    pub namespace: &'a str,
    /// The identifier on that ledger.
    pub id: &'a str,
}

impl<'a> IndyName<'a> {
    /// The parts of a did:indy; `None` for another method, or a malformed one ("Indy DID Method Identifiers").
    pub fn of(did: &'a Did) -> Option<Self> {
        let (namespace, id) = did
            .method_id()
            .rsplit_once(':')
            .filter(|_| did.method() == METHOD.name)?;
        let names: Vec<&str> = namespace.split(':').collect();
        let is_namespace = names.len() <= 2 && names.iter().all(|name| is_name(name));
        (is_namespace && (is_base58(id) || is_address(id))).then_some(Self { namespace, id })
    }

    /// The name that it has in the registry; `None` for another ledger.
    ///
    /// # Errors
    /// [`ResolutionError::InvalidDid`] if it is in our namespace, and is no name in a registry.
    fn registered(self) -> Result<Option<Did>, ResolutionError> {
        let mut names = self.namespace.split(':');
        if names.next() != Some(OWN) {
            return Ok(None);
        }
        let network = names.next().and_then(|name| Network::parse(name).ok());
        let network = network.filter(|_| is_base58(self.id));
        let network = network.ok_or(ResolutionError::InvalidDid)?;
        let method = selfsame::METHOD.name;
        let did = Did::made(method, format_args!("{network}:{}", self.id));
        Ok(Some(did))
    }
}

/// The name by did:indy of a DID of the registry. It resolves if the DID's identifier is of Indy's rules.
pub fn of_registered(did: &Did) -> Option<Did> {
    let (network, id) = selfsame::parts(did)?;
    Some(Did::made(METHOD.name, format_args!("{OWN}:{network}:{id}")))
}

/// The identifier of a subject whose first key is this ("Creation"): base58 of the first 16 bytes of the SHA-256 of an
/// Ed25519 key. `None` for another key.
pub fn id_of(initial: &PublicKey) -> Option<String> {
    let is_ed25519 = initial.key_type() == KeyType::Ed25519;
    let digest = sha256(initial.bytes());
    let begin = digest.get(..ID_BYTES).filter(|_| is_ed25519);
    begin.map(base58_encode)
}

/// Whether an identifier is of this first key: by the rule of did:indy, or by that of DIDs before it ("Backwards
/// Compatibility").
pub fn belongs_to(id: &str, initial: &PublicKey) -> bool {
    let ids = [id_of(initial), selfsame::indy_id_of(initial)];
    ids.iter().flatten().any(|own| own == id)
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
    };
    !name.is_empty() && name.bytes().all(is_inner)
}

fn is_base58(id: &str) -> bool {
    base58_decode(id).is_ok_and(|bytes| bytes.len() == ID_BYTES)
}

fn is_address(id: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = id.strip_prefix("0x");
    digits.is_some_and(|digits| digits.len() == ADDRESS_DIGITS && digits.bytes().all(is_digit))
}

fn planned(did: &Did, options: &Options) -> Result<ResolutionPlan, ResolutionError> {
    let name = IndyName::of(did).ok_or(ResolutionError::InvalidDid)?;
    match name.registered()? {
        None => Ok(ResolutionPlan::Resolver(did.clone())),
        // A version of this method is the number of its transaction, and the registry numbers versions from 1.
        Some(_) if options.version_id.is_some() => Err(ResolutionError::FeatureNotSupported),
        Some(registered) => Ok(ResolutionPlan::Registry {
            did: registered,
            options: options.clone(),
        }),
    }
}

/// What the registry has, under the name that was asked for. The first version says whether the name is one.
fn anchored(did: &Did, first: &Resolution, found: Resolution) -> Resolution {
    let name = IndyName::of(did);
    let (Some(name), Some(initial)) = (name, &first.document) else {
        let error = first.metadata.error.unwrap_or(ResolutionError::NotFound);
        return Resolution::failed(error);
    };
    let keys = initial
        .methods()
        .filter_map(|method| method.public_key().ok());
    if !keys.into_iter().any(|key| belongs_to(name.id, &key)) {
        return absent("the identifier is not of the DID's first key by the rules of this method");
    }
    let mut found = found;
    let metadata = &mut found.document_metadata;
    metadata.version_id = None;
    metadata.next_version_id = None;
    let Some(document) = found.document.take() else {
        return found;
    };
    match renamed(did, &document) {
        Ok(document) => {
            found.document = Some(document);
            found
        }
        Err(reason) => absent(reason),
    }
}

fn absent(reason: &str) -> Resolution {
    let mut absent = Resolution::failed(ResolutionError::NotFound);
    absent.metadata.reason = Some(reason.to_owned());
    absent
}

/// The document of the ledger's key ("Base DIDDoc Template"), with what the registry's has besides ("DIDDoc Assembly
/// Steps").
///
/// # Errors
/// Why the DID has none.
fn renamed(did: &Did, registered: &Document) -> Result<Document, &'static str> {
    let mut keys = registered.keys(Relationship::Authentication);
    let verkey = keys.find(|(_, key)| key.key_type() == KeyType::Ed25519);
    let keyless = "the DID has no Ed25519 key for authentication any more";
    let (_, verkey) = verkey.ok_or(keyless)?;
    let taken = "the DID has a key or a service of its own with the name verkey";
    if has_verkey(registered) {
        return Err(taken);
    }
    let mut document = Document::new(did.clone());
    let id = DidUrl::join(did, VERKEY).map_err(|_| taken)?;
    let material = Material::Base58(base58_encode(verkey.bytes()));
    let method = VerificationMethod::of_material(id, VERKEY_TYPE, material);
    document.add(method, &[Relationship::Authentication]);
    let own = |one: &Did| if *one == registered.id { did } else { one }.clone();
    for known in &registered.verification_method {
        let is_named = |reference: &KeyReference| match reference {
            KeyReference::Id(url) => *url == known.id,
            KeyReference::Embedded(_) => false,
        };
        let listed = Relationship::ALL.into_iter();
        let listed = listed.filter(|one| registered.references(*one).iter().any(is_named));
        let relationships: Vec<Relationship> = listed.collect();
        let mut method = known.clone();
        method.id.did = own(&known.id.did);
        method.controller = own(&known.controller);
        document.add(method, &relationships);
    }
    document.service = registered.service.clone();
    for service in &mut document.service {
        if let Some(rest) = service.id.strip_prefix(registered.id.as_str()) {
            service.id = format!("{did}{rest}");
        }
    }
    document.also_known_as.clone_from(&registered.also_known_as);
    document.also_known_as.push(registered.id.to_string());
    Ok(document)
}

/// Whether the registry's document has the fragment of the ledger's key for something of its own: an identifier stands
/// for one thing.
fn has_verkey(registered: &Document) -> bool {
    let verkey = format!("{}{VERKEY}", registered.id);
    let mut methods = registered.methods();
    let mut services = registered.service.iter();
    methods.any(|one| one.id.to_string() == verkey) || services.any(|one| one.id == verkey)
}

#[cfg(test)]
mod tests;
