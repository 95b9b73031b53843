//! Why a step has no result, worded with the options of the commands.

use selfsame_anoncreds::Error;
use selfsame_anoncreds_roles::{MissingObject, RoleError};
use selfsame_terminal::exit::Failure;

/// Why a step has no result, worded with the options of the commands.
pub fn failed(error: impl Into<RoleError>) -> Failure {
    let error = error.into();
    let text = error.to_string();
    match error {
        RoleError::Refused(error) => refused(error),
        RoleError::Missing(MissingObject::Schema(_) | MissingObject::Definition(_)) => {
            Failure::environment(text).hint("--schema ID=FILE --cred-def ID=FILE")
        }
        RoleError::Missing(_) => Failure::environment(text)
            .hint("--rev-reg ID=FILE --status-list FILE --tails FILE"),
        RoleError::NotRequested { requested, .. } => Failure::environment(text)
            .hint(format!("its attributes are: {}", requested.join(", "))),
        RoleError::UncheckedPlace(_) => Failure::environment(text)
            .hint("add --rev-reg-id ID --tails FILE, or --unchecked-place"),
        RoleError::Unacceptable { .. } => Failure::no(text),
        RoleError::NoProof => Failure::no("these files do not make a valid proof").hint(
            "--credential must be the output of `process`, --link-secret the file that was used to request it",
        ),
        RoleError::OlderList => Failure::environment(text)
            .hint("set a later --timestamp SECONDS, or leave it out for the present time"),
        RoleError::TwoValues(_) => {
            Failure::environment(text).hint("--value NAME=VALUE once for each attribute")
        }
    }
}

/// A message from another party that does not verify is a negative answer; a wrong name is the caller's mistake.
fn refused(error: Error) -> Failure {
    let text = error.to_string();
    match error {
        Error::Issuer(_) => Failure::no(text)
            .hint(
            "do not use this credential: it belongs to another issuance than the other files, was already finished, or is wrong",
        ),
        Error::Proof(_) => Failure::no(text).hint("ask the sender for a new one"),
        Error::Unsatisfied { .. } => {
            Failure::no(text).hint("use another credential with --credential FILE, or --self-attest REFERENT=VALUE")
        }
        Error::Registry(_) => Failure::no(text),
        Error::Mismatch { .. } => Failure::environment(text)
            .hint("these files do not belong together; --help describes each file"),
        _ => Failure::environment(text).hint("--help has an example"),
    }
}
