//! The settings of the API.

use http::StatusCode;
use serde::Deserialize;

/// `[vc_api]`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct VcApiConfig {
    /// What anyone may call without a token. By default nothing.
    pub open: Vec<VcApiFace>,
    /// The status of the answer for what is not verified; 400 by default.
    pub unverified: RefusedStatus,
}

/// A part of the API.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum VcApiFace {
    /// Issues, presents, and changes statuses in the name of the organisation.
    Issue,
    /// Verifies, and gives out challenges.
    Verify,
}

/// The status of an answer that says that something is not verified.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(try_from = "u16")]
pub enum RefusedStatus {
    /// 400, so that a caller who looks at the status alone takes nothing for verified.
    #[default]
    BadRequest,
    /// 200: the verification itself went well.
    Success,
}

impl VcApiConfig {
    /// Whether anyone may call a part.
    #[must_use]
    pub fn is_open(&self, face: VcApiFace) -> bool {
        self.open.contains(&face)
    }
}

impl RefusedStatus {
    /// The status.
    #[must_use]
    pub const fn code(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Success => StatusCode::OK,
        }
    }
}

impl TryFrom<u16> for RefusedStatus {
    type Error = String;

    fn try_from(status: u16) -> Result<Self, String> {
        match status {
            400 => Ok(Self::BadRequest),
            200 => Ok(Self::Success),
            other => Err(format!("`{other}` is neither 400 nor 200")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Result<VcApiConfig, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[test]
    fn nothing_is_open_unless_it_is_named() {
        let default = read(json!({})).unwrap();
        assert_eq!(default, VcApiConfig::default());
        assert!(!default.is_open(VcApiFace::Verify) && !default.is_open(VcApiFace::Issue));
        let open = read(json!({"open": ["verify"], "unverified": 200})).unwrap();
        assert!(open.is_open(VcApiFace::Verify) && !open.is_open(VcApiFace::Issue));
        assert_eq!(open.unverified.code(), StatusCode::OK);
    }

    #[test]
    fn an_unknown_part_or_status_is_refused() {
        for wrong in [
            json!({"open": ["all"]}),
            json!({"open": true}),
            json!({"unverified": 422}),
            json!({"other": 1}),
        ] {
            assert!(read(wrong).is_err());
        }
    }
}
