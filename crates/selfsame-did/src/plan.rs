//! What to do to resolve a DID: answer at once, or say what to ask for.

use url::Url;

use crate::did::Did;
use crate::resolution::{Options, Resolution, ResolutionError};
use crate::{jwk, key, web};

/// What resolving a DID takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Nothing more: the DID held it all.
    Done(Box<Resolution>),
    /// Fetch this over HTTPS and give it to [`web::read`].
    Fetch {
        /// Where the document is.
        url: Url,
    },
    /// Ask the registry of the DID's network.
    Registry {
        /// The DID.
        did: Did,
        /// What the caller wants.
        options: Options,
    },
    /// Ask a resolver of the cheqd network, or another one that is configured for it, and read its answer with
    /// [`Resolution::told`].
    Cheqd(Did),
    /// Ask another resolver, if one is configured, and read its answer with [`Resolution::told`].
    Foreign(Did),
}

/// Plans how to resolve `did`. Errors are results: they belong into [`Resolution::failed`].
pub fn plan(did: &Did, options: &Options) -> Result<Plan, ResolutionError> {
    if options.version_id.is_some() && options.version_time.is_some() {
        return Err(ResolutionError::InvalidOptions);
    }
    let unversioned = || match (&options.version_id, options.version_time) {
        (None, None) => Ok(()),
        _ => Err(ResolutionError::FeatureNotSupported),
    };
    match did.method() {
        "key" => unversioned()
            .and_then(|()| key::resolve(did, options.accept))
            .map(done),
        "jwk" => unversioned()
            .and_then(|()| jwk::resolve(did, options.accept))
            .map(done),
        "web" => {
            unversioned()?;
            let url = web::url(did).map_err(|_| ResolutionError::InvalidDid)?;
            Ok(Plan::Fetch { url })
        }
        "selfsame" => {
            crate::selfsame::parts(did).ok_or(ResolutionError::InvalidDid)?;
            Ok(Plan::Registry {
                did: did.clone(),
                options: options.clone(),
            })
        }
        "cheqd" => {
            crate::cheqd::parts(did).ok_or(ResolutionError::InvalidDid)?;
            Ok(Plan::Cheqd(did.clone()))
        }
        _ => Ok(Plan::Foreign(did.clone())),
    }
}

fn done(resolution: Resolution) -> Plan {
    Plan::Done(Box::new(resolution))
}

#[cfg(test)]
mod tests;
