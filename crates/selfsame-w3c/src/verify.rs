//! Verifies credentials and presentations of others.

mod given;
mod presented;

use selfsame_credential::verify::Presented;
use selfsame_driver::ErrorKind;
use serde_json::{Map, Value};

use crate::check::CredentialCheck;
use crate::problem::{VcProblem, W3cError, code};
use crate::{W3cDesk, document};

pub use given::{GivenCredential, GivenPresentation};
pub use presented::PresentationDemand;

impl W3cDesk {
    /// Verifies a credential: its proof, its validity, its status, and whether its issuer is trusted.
    ///
    /// # Errors
    /// `Failed` with `NotFound` if the organisation is no verifier; the store's errors.
    pub async fn verify_credential(
        &self,
        given: &GivenCredential,
    ) -> Result<CredentialCheck, W3cError> {
        let verifier = self.roles.verifier()?;
        let presented = Presented {
            format: given.format,
            raw: &given.raw,
            expected: None,
        };
        let verdict = match verifier.judge(&presented).await {
            Ok(verdict) => verdict,
            Err(error) if error.kind == ErrorKind::BadRequest => {
                let detail = error.reason.parameter("detail").map(ToString::to_string);
                let detail = detail.unwrap_or_else(|| error.reason.id().to_owned());
                let problem = VcProblem::new(code::PARSING, detail);
                return Ok(CredentialCheck::refused(&given.value, problem));
            }
            Err(error) => return Err(error.into()),
        };
        let empty = Map::new();
        let claims = verdict.claims.as_ref().and_then(Value::as_object);
        // The claims of a JWT are known once it is found genuine.
        let own = given.members().or(claims).unwrap_or(&empty);
        let check = CredentialCheck::of(&given.value, own, &verdict);
        Ok(match given.members().map(document::credential) {
            Some(Err(problem)) => check.with(problem),
            _ => check,
        })
    }
}
