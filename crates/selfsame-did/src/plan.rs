//! Plans how to resolve a DID: answer at once, or name the source to ask.

use url::Url;

use crate::did::Did;
use crate::resolution::{Options, Resolution, ResolutionError};
use crate::{jwk, key, web};

/// The next action to resolve a DID.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Nothing: the DID itself contained everything.
    Done(Box<Resolution>),
    /// Fetch this URL over HTTPS and pass the body to [`web::read`].
    Fetch {
        /// The URL of the document.
        url: Url,
    },
    /// Query the registry of the DID's network.
    Registry {
        /// The DID.
        did: Did,
        /// The options of the caller.
        options: Options,
    },
    /// Query a resolver of the cheqd network, or another resolver configured for it, and read its answer with
    /// [`Resolution::told`].
    Cheqd(Did),
    /// Query another resolver, if one is configured, and read its answer with [`Resolution::told`].
    Foreign(Did),
}

/// Plans how to resolve `did`. Pass an error to [`Resolution::failed`]: it is the result of the resolution.
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
