//! What the check of a saved request finds.

use selfsame_driver::{Reason, Reasons};
use selfsame_openid_view::words::FormatName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use selfsame_types::asked::shown::{AskedClaim, AskedSet};

/// What the check of a saved request found.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RequestCheck {
    /// The DCQL query that wallets receive.
    #[schema(value_type = Object)]
    pub dcql_query: Value,
    /// Whether credentials filled with the types' examples can answer it.
    pub answerable: bool,
    /// What the person who is asked is shown, for each credential query.
    pub credentials: Vec<AskedCredential>,
    /// The combinations of credential queries that answer it.
    pub sets: Vec<AskedSet>,
    /// What should be better.
    #[schema(value_type = Vec<String>)]
    pub advice: Vec<Reason>,
}

/// A credential that is asked for.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct AskedCredential {
    /// The id of the credential query.
    pub query: String,
    /// The title of the type; the type's identifier if it is not known here.
    pub title: String,
    /// The format.
    #[schema(value_type = FormatName)]
    pub format: String,
    /// Whether every claim leaves the wallet, because the format discloses nothing selectively.
    pub whole: bool,
    /// What leaves the wallet.
    pub claims: Vec<AskedClaim>,
    /// The issuers that the request names for it; empty for all that the instance trusts.
    pub issuers: Vec<String>,
    /// The ids of the types whose sample cards answer it.
    pub answered_by: Vec<String>,
    /// Why no sample card answers it.
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
}

impl Reasons for RequestCheck {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        let of_credentials = self.credentials.iter_mut();
        let reasons = of_credentials.filter_map(|one| one.reason.as_mut());
        reasons.chain(&mut self.advice).collect()
    }
}
