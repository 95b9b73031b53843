//! The table of DID methods. To add a method, add a file or folder here and its line in [`METHODS`].

pub mod cheqd;
pub mod indy;
pub mod jwk;
pub mod key;
pub mod peer;
pub mod selfsame;
pub mod web;
pub mod webvh;

use selfsame_crypto::PublicKey;
use url::Url;

use crate::did::Did;
use crate::resolution::{Options, Resolution, ResolutionError};

/// The DID methods that are known here. DIDs of other methods are left to another resolver.
pub const METHODS: Methods = Methods::new(&[
    &key::METHOD,
    &jwk::METHOD,
    &web::METHOD,
    &webvh::METHOD,
    &peer::METHOD,
    &selfsame::METHOD,
    &cheqd::METHOD,
    &indy::METHOD,
]);

/// A DID method: its properties and functions.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name, which follows `did:`.
    pub name: &'static str,
    /// Where its documents come from.
    pub origin: Origin,
    /// Validates a DID and plans how to resolve it.
    pub plan: fn(&Did, &Options) -> Result<ResolutionPlan, ResolutionError>,
    /// Reads what [`ResolutionPlan::Fetch`] fetched; `None` for a method that never plans that.
    pub read: Option<fn(&Did, &[u8]) -> Resolution>,
    /// Writes what the registry has of a DID under the name of this method that was asked for; given are that name, the
    /// registry's first version, and the wanted one. `None` for a method that plans to ask the registry for no other name.
    pub anchored: Option<fn(&Did, &Resolution, Resolution) -> Resolution>,
    /// How a key becomes a DID; `None` if the DID depends on more than the key.
    pub of_key: Option<OfKey>,
    /// The binary form of its DIDs, if it has one.
    pub binary: Option<Binary>,
}

/// Where a DID's document comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// From the DID itself.
    Itself,
    /// From the DID itself, or from the peer that it was made for. Such DIDs are between two parties, so they are offered
    /// for nothing that is public.
    Peer,
    /// From the host that the DID names.
    Host,
    /// From a log that proves itself, at the host that the DID names.
    Log,
    /// From the registry, with a proof.
    Registry,
    /// From another resolver, whose answer is trusted without a proof.
    Resolver,
}

/// How the DIDs of a method are made of one key.
#[derive(Clone, Copy, Debug)]
pub struct OfKey {
    /// The DID of a key.
    pub create: fn(&PublicKey) -> Did,
    /// The fragment of the key in the document.
    pub fragment: fn(&Did) -> &str,
}

/// The binary form of a method's DIDs, for TLS and compact credentials (docs/tls.md).
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// The number that stands for the method.
    pub code: u8,
    /// The bytes of a DID; `None` if the DID has no binary form.
    pub write: fn(&Did) -> Option<Vec<u8>>,
    /// The method-specific identifier with these bytes. It may not be valid.
    pub read: fn(&[u8]) -> Option<String>,
}

/// The next action to resolve a DID.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolutionPlan {
    /// Nothing: the DID itself contained everything.
    Done(Box<Resolution>),
    /// Fetch this URL over HTTPS and pass the body to [`Methods::read`].
    Fetch {
        /// The URL of the document.
        url: Url,
    },
    /// Fetch the log at this URL over HTTPS, with the witnesses' proofs beside it if it needs them, and verify it.
    Log {
        /// The URL of the log.
        url: Url,
        /// The options of the caller.
        options: Options,
    },
    /// Query the registry of the DID's network. If it has the DID under another name, pass the result to
    /// [`Methods::anchored`].
    Registry {
        /// The DID, as the registry names it.
        did: Did,
        /// The options of the caller.
        options: Options,
    },
    /// Query another resolver, if one is configured for the method, and read its answer with [`Resolution::told`].
    Resolver(Did),
}

/// A table of DID methods.
#[derive(Clone, Copy, Debug)]
pub struct Methods(&'static [&'static Method]);

impl Methods {
    /// The table with these methods.
    pub const fn new(methods: &'static [&'static Method]) -> Self {
        Self(methods)
    }

    /// All methods, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = &'static Method> {
        self.0.iter().copied()
    }

    /// The method with this name.
    pub fn named(self, name: &str) -> Option<&'static Method> {
        self.iter().find(|method| method.name == name)
    }

    /// The method with this name, if its DIDs are resolved here.
    pub fn resolved_here(self, name: &str) -> Option<&'static Method> {
        let method = self.named(name);
        method.filter(|method| method.origin.is_resolved_here())
    }

    /// The method of a DID.
    pub fn of(self, did: &Did) -> Option<&'static Method> {
        self.named(did.method())
    }

    /// The names of the methods for which `is_meant`, joined by commas.
    pub fn names(self, is_meant: impl Fn(&Method) -> bool) -> String {
        let names = self.iter().filter(|method| is_meant(method));
        let names: Vec<&str> = names.map(|method| method.name).collect();
        names.join(", ")
    }

    /// Plans how to resolve `did`. Pass an error to [`Resolution::failed`]: it is the result of the resolution.
    pub fn plan(self, did: &Did, options: &Options) -> Result<ResolutionPlan, ResolutionError> {
        options.one_version()?;
        let plan = match self.of(did) {
            Some(method) => (method.plan)(did, options)?,
            None => ResolutionPlan::Resolver(did.clone()),
        };
        match (&plan, options.version_number) {
            (ResolutionPlan::Log { .. }, _) | (_, None) => Ok(plan),
            // The others name their versions, so the number would be ignored.
            (_, Some(_)) => Err(ResolutionError::FeatureNotSupported),
        }
    }

    /// What the registry has of a DID, under the name `did` that was asked for because of [`ResolutionPlan::Registry`].
    /// `first` is the registry's first version.
    pub fn anchored(self, did: &Did, first: &Resolution, found: Resolution) -> Resolution {
        match self.of(did).and_then(|method| method.anchored) {
            Some(anchored) => anchored(did, first, found),
            None => Resolution::failed(ResolutionError::MethodNotSupported),
        }
    }

    /// Reads the body that was fetched for `did` because of [`ResolutionPlan::Fetch`].
    pub fn read(self, did: &Did, body: &[u8]) -> Resolution {
        match self.of(did).and_then(|method| method.read) {
            Some(read) => read(did, body),
            None => Resolution::failed(ResolutionError::MethodNotSupported),
        }
    }
}

impl Method {
    /// `did:` and its name.
    pub fn scheme(&self) -> String {
        format!("did:{}", self.name)
    }
}

impl Origin {
    /// Whether the instance resolves every such DID itself, without another resolver.
    pub const fn is_resolved_here(self) -> bool {
        !matches!(self, Self::Peer | Self::Resolver)
    }

    /// Whether it is the registry.
    pub const fn is_registry(self) -> bool {
        matches!(self, Self::Registry)
    }

    /// Whether every party can resolve the DID, whichever registries and resolvers it uses.
    pub const fn is_portable(self) -> bool {
        matches!(self, Self::Itself | Self::Host | Self::Log)
    }

    /// Whether an issuer or a verifier can have such a DID: it begins with one key, and no registrar writes it.
    pub const fn is_of_one_key(self) -> bool {
        matches!(self, Self::Itself | Self::Host | Self::Registry)
    }

    /// Whether the DID can get other keys and can be deactivated.
    pub const fn can_change(self) -> bool {
        !matches!(self, Self::Itself | Self::Peer)
    }
}

impl Did {
    /// Where its document comes from.
    pub fn origin(&self) -> Origin {
        let method = METHODS.of(self);
        method.map_or(Origin::Resolver, |method| method.origin)
    }

    /// The DID URL of its only key, if its method fixes that.
    pub fn kid(&self) -> Option<String> {
        let of_key = METHODS.of(self)?.of_key?;
        Some(format!("{self}#{}", (of_key.fragment)(self)))
    }

    /// Plans how to resolve it, by the methods of [`METHODS`].
    pub fn plan(&self, options: &Options) -> Result<ResolutionPlan, ResolutionError> {
        METHODS.plan(self, options)
    }
}

fn done(resolution: Resolution) -> ResolutionPlan {
    ResolutionPlan::Done(Box::new(resolution))
}

#[cfg(test)]
mod tests;
