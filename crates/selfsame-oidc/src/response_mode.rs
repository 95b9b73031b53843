//! How an authorization response gets to the client.

use serde::{Deserialize, Serialize};

/// How the parameters of a response get to the client's redirect URI.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseMode {
    /// In the query (OAuth 2.0 Multiple Response Type Encoding Practices §2.1).
    #[default]
    Query,
    /// In a form that the browser posts (OAuth 2.0 Form Post Response Mode).
    FormPost,
}

impl ResponseMode {
    /// The mode of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "query" => Some(Self::Query),
            "form_post" => Some(Self::FormPost),
            _ => None,
        }
    }
}
