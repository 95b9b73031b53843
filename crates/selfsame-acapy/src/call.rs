//! A call of an operation: who calls, and the parameters of the path, of the query and of the body.

use std::sync::Arc;

use axum::body::Bytes;
use http::StatusCode;
use selfsame_agent::Agents;
use selfsame_app::App;
use selfsame_crypto::json::{self, JsonError, Limits};
use selfsame_did::Did;
use selfsame_http::error::Problem;
use selfsame_store::TenantId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::admin::Admin;
use crate::answer::{OperationError, OperationResult};
use crate::caller::{Caller, unauthorized};

/// The most members and elements of a body for each byte that it may have: one row of many is 50 bytes or more.
const BYTES_A_MEMBER: usize = 8;
/// The deepest body: a credential in a record of an exchange.
const DEPTH: usize = 64;

/// A call of an operation.
pub struct OperationCall {
    /// The admin API that was called.
    pub admin: Admin,
    /// Who calls; `None` if everybody may.
    pub caller: Option<Caller>,
    /// The parameters of the path.
    pub path: Vec<PathParameter>,
    /// The query, as it was sent.
    pub query: String,
    /// The body.
    pub body: Bytes,
}

/// A parameter of a path.
pub struct PathParameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A flag of a query: `true` and `false` as clients of several languages write them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flag(pub bool);

impl OperationCall {
    /// The agents of the process.
    pub fn agents(&self) -> &Agents {
        self.admin.agents()
    }

    /// The application.
    pub fn app(&self) -> &Arc<App> {
        self.admin.app()
    }

    /// Who calls.
    ///
    /// # Errors
    /// 401 if the request carried no valid key.
    pub fn caller(&self) -> OperationResult<&Caller> {
        self.caller.as_ref().ok_or_else(unauthorized)
    }

    /// The tenant of the caller's agent.
    ///
    /// # Errors
    /// As [`Self::caller`].
    pub fn tenant(&self) -> OperationResult<&TenantId> {
        Ok(&self.caller()?.tenant)
    }

    /// A parameter of the path.
    ///
    /// # Errors
    /// 404 if the path has none of this name.
    pub fn at(&self, name: &str) -> OperationResult<&str> {
        let found = self.path.iter().find(|parameter| parameter.name == name);
        let found = found.map(|parameter| parameter.value.as_str());
        found.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "address-unknown").into())
    }

    /// The query. Unknown parameters are ignored, and of a parameter that is there twice all but the last.
    ///
    /// # Errors
    /// 422 with the parameter that is wrong.
    pub fn query<T: DeserializeOwned>(&self) -> OperationResult<T> {
        let mut pairs: Vec<_> = Vec::new();
        for pair in url::form_urlencoded::parse(self.query.as_bytes()) {
            pairs.retain(|(name, _)| *name != pair.0);
            pairs.push(pair);
        }
        Ok(json::pairs_as(pairs.into_iter())?)
    }

    /// All values of a parameter of the query.
    pub fn all(&self, name: &str) -> Vec<String> {
        url::form_urlencoded::parse(self.query.as_bytes())
            .filter(|(asked, _)| asked == name)
            .map(|(_, value)| value.into_owned())
            .collect()
    }

    /// The body. An empty one is an empty object; unknown members are ignored.
    ///
    /// # Errors
    /// 422 with the member that is wrong, 400 for a body that is no JSON.
    pub fn body<T: DeserializeOwned>(&self) -> OperationResult<T> {
        let body: &[u8] = match self.body.trim_ascii() {
            [] => b"{}",
            body => body,
        };
        let most = self.admin.settings().body_max;
        let limits = Limits {
            max_bytes: most,
            max_depth: DEPTH,
            max_members: most / BYTES_A_MEMBER,
        };
        json::parse_as(body, &limits).map_err(|error| match error {
            JsonError::Shape(misfit) => OperationError::from(*misfit),
            other => Problem::bad_request("body-invalid")
                .with("detail", &other)
                .into(),
        })
    }
}

/// The DID that a field names.
///
/// # Errors
/// 422 if it is not valid.
pub fn did_of(text: &str, field: &str) -> OperationResult<Did> {
    Did::parse(text).map_err(|_| OperationError::field(field, "Value is not a DID"))
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct ListPart {
    /// How many are left out at the beginning.
    #[serde(default)]
    pub offset: usize,
    /// How many are returned.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Whether the newest come first.
    #[serde(default)]
    pub descending: Option<Flag>,
}

/// The number of entries that a list has if the caller does not say.
const LIST: usize = 100;
/// The most entries of a list.
const LIST_MAX: usize = 10_000;

impl ListPart {
    /// A part of a list that is always in its own order.
    pub fn of(offset: usize, limit: Option<usize>) -> Self {
        Self {
            offset,
            limit,
            descending: None,
        }
    }

    /// How many are returned.
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(LIST).min(LIST_MAX)
    }

    /// Whether the newest come first.
    pub fn is_descending(&self) -> bool {
        Flag::is_set(self.descending, false)
    }
}

impl Flag {
    /// The flag, or what holds without it.
    pub fn is_set(flag: Option<Self>, without: bool) -> bool {
        flag.map_or(without, |flag| flag.0)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(Self(true)),
            "false" | "0" | "no" | "off" => Ok(Self(false)),
            _ => Err(serde::de::Error::invalid_value(
                serde::de::Unexpected::Other("text"),
                &"a boolean",
            )),
        }
    }
}
