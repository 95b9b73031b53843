//! AnonCreds: rules that its objects have in common.

mod again;
mod definition;
mod registry;
mod revocation;
mod schema;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::format::Message;

use crate::anoncreds::ObjectName;
use crate::authority::{Act, Whose};
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::StateKey;

use super::JudgedStep;

impl JudgedStep<'_> {
    /// Reads published JSON within the network's limits.
    fn read_published<T: Message>(&self, json: &str) -> Result<T, CheckError> {
        let long = u64::try_from(json.len()).is_ok_and(|n| n > self.at.rules.max_object_bytes);
        if long {
            return Err(Refusal::Object(ObjectFault::TooLarge).into());
        }
        Ok(T::from_json(json.as_bytes()).map_err(refused)?)
    }

    /// The author may publish as the issuer that the JSON names only if the author is that issuer.
    fn publishes(&self, act: Act, issuer: &str) -> Result<(), CheckError> {
        self.active_author()?;
        let own = self.at.did(self.author);
        let whose = match issuer == own {
            true => Whose::Own,
            false => Whose::Other,
        };
        self.authorise(act, whose)
    }

    /// A published object never changes, so its name must be free.
    fn is_free(&self, name: &ObjectName) -> Result<(), CheckError> {
        match self.to.has(&StateKey::Object(name))? {
            true => Err(Refusal::Object(ObjectFault::Exists).into()),
            false => Ok(()),
        }
    }

    /// Parses the name that a JSON document refers to; it has to be of this network and kind.
    fn named(&self, text: &str, kind: &'static str) -> Result<ObjectName, Refusal> {
        ObjectName::parse(text, self.at.network)
            .filter(|name| name.kind() == kind)
            .ok_or(Refusal::Object(ObjectFault::Unknown))
    }
}

/// The refusal for an error of the AnonCreds parser.
fn refused(error: Error) -> Refusal {
    Refusal::Object(match error {
        Error::TooLarge { what, .. } => ObjectFault::Json {
            what,
            why: "it is too large",
        },
        Error::Malformed { what, why } | Error::Mismatch { what, why } => {
            ObjectFault::Json { what, why }
        }
        _ => ObjectFault::Key,
    })
}
