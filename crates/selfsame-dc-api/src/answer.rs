//! Answers as browsers carry them (Appendix A.4).

use selfsame_openid4vc::Error;
use selfsame_openid4vc::error::PresentationCode;
use selfsame_openid4vc::wire::response::PostedResponse;
use serde_json::{Value, json};

use crate::exchange::ExchangeProtocol;

/// The `data` of the answer to a request that the wallet refuses: the error's code and nothing else.
pub fn refused(error: &Error) -> Value {
    let code = match error {
        Error::Presentation { code, .. } => *code,
        _ => PresentationCode::AccessDenied,
    };
    json!({ "error": code.as_str() })
}

/// An answer that a browser brought back to the verifier's page.
#[derive(Clone, Debug)]
pub struct BroughtAnswer {
    /// The protocol of the exchange.
    pub protocol: ExchangeProtocol,
    /// What the wallet said.
    pub posted: PostedResponse,
}

impl BroughtAnswer {
    /// Reads the answer.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn read(protocol: &str, data: &Value) -> Result<Self, Error> {
        Ok(Self {
            protocol: ExchangeProtocol::parse(protocol)?,
            posted: PostedResponse::of_data(data)?,
        })
    }
}
