//! Whether the person is asked (OpenID Connect Core §3.1.2.1, `prompt`).

use selfsame_oauth::{Code, Error};
use serde::{Deserialize, Serialize};

/// What a client demands of the conversation with the person.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Prompts {
    /// The person must not see any page.
    pub none: bool,
    /// The person must prove again who they are.
    pub login: bool,
    /// The person must agree again.
    pub consent: bool,
    /// The person must choose an account.
    pub select_account: bool,
}

impl Prompts {
    /// Parses the parameter.
    ///
    /// # Errors
    /// `invalid_request` for an unknown value, or `none` with others.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut prompts = Self::default();
        for value in text.split(' ').filter(|value| !value.is_empty()) {
            match value {
                "none" => prompts.none = true,
                "login" => prompts.login = true,
                "consent" => prompts.consent = true,
                "select_account" => prompts.select_account = true,
                // Initiating User Registration via OpenID Connect 1.0: people who sign in may register there.
                "create" => prompts.login = true,
                _ => return Err(Error::new(Code::InvalidRequest, "prompt is unknown")),
            }
        }
        match prompts.none && (prompts.login || prompts.consent || prompts.select_account) {
            true => Err(Error::new(
                Code::InvalidRequest,
                "prompt has `none` and another value",
            )),
            false => Ok(prompts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_stands_alone() {
        assert!(Prompts::parse("none").unwrap().none);
        let both = Prompts::parse("login consent").unwrap();
        assert!(both.login && both.consent && !both.none);
        for bad in ["none login", "sometimes"] {
            assert_eq!(Prompts::parse(bad).unwrap_err().code, Code::InvalidRequest);
        }
    }
}
