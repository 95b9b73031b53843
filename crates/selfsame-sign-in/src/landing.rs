//! The end of a sign-in: the response that goes to the client.

use selfsame_crypto::SecretString;
use selfsame_oauth::{Code, Error as Refused};
use selfsame_oidc::AuthorizationRequest;
use selfsame_oidc::request::ReturnedError;

use crate::service::SignIns;
use crate::view::Landing;

impl SignIns {
    /// A response with a code (RFC 6749 §4.1.2), and the issuer against mix-ups (RFC 9207 §2).
    pub(crate) fn with_code(&self, request: &AuthorizationRequest, code: SecretString) -> Landing {
        let mut parameters = vec![("code", code.expose().to_owned())];
        parameters.extend(self.further(request.state.as_deref()));
        Landing {
            redirect_uri: request.redirect_uri.clone(),
            mode: request.mode,
            parameters,
            code: Some(code),
            nonce: request.nonce.clone(),
            state: request.state.clone(),
        }
    }

    /// A response with an error (RFC 6749 §4.1.2.1).
    pub(crate) fn with_error(&self, request: &AuthorizationRequest, error: Refused) -> Landing {
        self.returned(ReturnedError {
            redirect_uri: request.redirect_uri.clone(),
            mode: request.mode,
            state: request.state.clone(),
            error,
        })
    }

    pub(crate) fn returned(&self, returned: ReturnedError) -> Landing {
        let error = returned.error;
        tracing::info!(
            code = error.code.as_str(),
            reason = error.reason,
            "refused to a client"
        );
        let body = error.body();
        let mut parameters = vec![("error", body.error)];
        let described = body.error_description;
        parameters.extend(described.map(|text| ("error_description", text)));
        parameters.extend(self.further(returned.state.as_deref()));
        Landing {
            redirect_uri: returned.redirect_uri,
            mode: returned.mode,
            parameters,
            code: None,
            nonce: None,
            state: returned.state,
        }
    }

    /// What every response has.
    fn further(&self, state: Option<&str>) -> impl Iterator<Item = (&'static str, String)> {
        let state = state.map(|state| ("state", state.to_owned()));
        let issuer = ("iss", self.place.issuer().to_owned());
        state.into_iter().chain([issuer])
    }
}

/// The refusal of a sign-in by the person.
pub(crate) const fn declined() -> Refused {
    Refused::new(Code::AccessDenied, "the person declined")
}
