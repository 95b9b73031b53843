//! The claims that a client asks for (OpenID Connect Core §5.4, §5.5).

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::json::{self, Limits};
use selfsame_oauth::{Code, Error, ScopeSet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const LIMITS: Limits = Limits {
    max_bytes: 16 * 1024,
    max_depth: 8,
    max_members: 512,
};
/// The maximum number of claims that are asked for in one place.
const MAX_CLAIMS: usize = 64;
/// The longest name of a claim, in bytes.
const MAX_NAME: usize = 128;

/// The claims of each scope (OpenID Connect Core §5.4).
const OF_SCOPES: [(&str, &[&str]); 4] = [
    (
        "profile",
        &[
            "name",
            "family_name",
            "given_name",
            "middle_name",
            "nickname",
            "preferred_username",
            "profile",
            "picture",
            "website",
            "gender",
            "birthdate",
            "zoneinfo",
            "locale",
            "updated_at",
        ],
    ),
    ("email", &["email", "email_verified"]),
    ("address", &["address"]),
    ("phone", &["phone_number", "phone_number_verified"]),
];

/// Claims of the token itself, which need no consent.
const OF_TOKENS: [&str; 14] = [
    "sub",
    "iss",
    "aud",
    "exp",
    "iat",
    "nbf",
    "jti",
    "nonce",
    "acr",
    "amr",
    "azp",
    "auth_time",
    "sid",
    "at_hash",
];

/// Whether a claim is about the token, not about the person.
#[must_use]
pub fn is_of_token(name: &str) -> bool {
    OF_TOKENS.contains(&name)
}

/// The standard claims.
pub fn standard() -> impl Iterator<Item = &'static str> {
    OF_SCOPES
        .iter()
        .flat_map(|(_, claims)| claims.iter().copied())
}

/// The scopes that stand for claims.
pub fn claim_scopes() -> impl Iterator<Item = &'static str> {
    OF_SCOPES.iter().map(|(scope, _)| *scope)
}

/// The parameter `claims`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestedClaims {
    /// Claims for the userinfo endpoint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub userinfo: BTreeMap<String, ClaimWish>,
    /// Claims for the ID token.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub id_token: BTreeMap<String, ClaimWish>,
}

/// How a claim is asked for.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ClaimWish {
    /// Whether the client can't do without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub essential: bool,
    /// The values that it should have; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
}

/// The claims that a person is asked about.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClaimQuestion {
    /// Those without which the client can't do what was asked for.
    pub essential: BTreeSet<String>,
    /// The others.
    pub voluntary: BTreeSet<String>,
}

impl RequestedClaims {
    /// Parses the parameter. Members of other kinds are ignored (§5.5).
    ///
    /// # Errors
    /// `invalid_request` for JSON that is malformed or too large.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let read = json::parse(text.as_bytes(), &LIMITS);
        let Ok(Value::Object(members)) = read else {
            return Err(malformed());
        };
        let part = |name| match members.get(name) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(wishes)) => wishes_of(wishes),
            Some(_) => Err(malformed()),
        };
        Ok(Self {
            userinfo: part("userinfo")?,
            id_token: part("id_token")?,
        })
    }

    /// The values that a claim of the ID token must have, if it is essential.
    pub fn demanded(&self, claim: &str) -> Option<&[Value]> {
        let wish = self.id_token.get(claim)?;
        wish.essential.then_some(wish.values.as_slice())
    }

    /// The claims that a person is asked about: those of the scopes and of the parameter, as far as the client may ask.
    pub fn question(&self, scopes: &ScopeSet, allows: impl Fn(&str) -> bool) -> ClaimQuestion {
        let of_scopes = OF_SCOPES.iter().filter(|(scope, _)| scopes.has(scope));
        let by_scope = of_scopes.flat_map(|(_, claims)| claims.iter().copied());
        let both = || self.userinfo.iter().chain(&self.id_token);
        let asked = both().map(|(name, _)| name.as_str());
        let may = |name: &&str| !is_of_token(name) && allows(base(name));
        let essential: BTreeSet<String> = both()
            .filter(|(_, wish)| wish.essential)
            .map(|(name, _)| name.as_str())
            .filter(may)
            .map(|name| base(name).to_owned())
            .collect();
        let all = by_scope.chain(asked).filter(may).map(base);
        let voluntary = all.filter(|name| !essential.contains(*name));
        ClaimQuestion {
            voluntary: voluntary.map(str::to_owned).collect(),
            essential,
        }
    }
}

/// The name of a claim without its language (§5.2).
fn base(name: &str) -> &str {
    name.split_once('#').map_or(name, |(base, _)| base)
}

fn wishes_of(wishes: &Map<String, Value>) -> Result<BTreeMap<String, ClaimWish>, Error> {
    if wishes.len() > MAX_CLAIMS {
        return Err(malformed());
    }
    let read = wishes.iter().map(|(name, wish)| {
        let is_short = !name.is_empty() && name.len() <= MAX_NAME;
        let wish = ClaimWish::of(wish).filter(|_| is_short);
        wish.map(|wish| (name.clone(), wish)).ok_or_else(malformed)
    });
    read.collect()
}

impl ClaimWish {
    fn of(wish: &Value) -> Option<Self> {
        let members = match wish {
            Value::Null => return Some(Self::default()),
            Value::Object(members) => members,
            _ => return None,
        };
        let essential = match members.get("essential") {
            None => false,
            Some(essential) => essential.as_bool()?,
        };
        let values = match (members.get("value"), members.get("values")) {
            (Some(value), _) => vec![value.clone()],
            (None, Some(values)) => values.as_array()?.clone(),
            (None, None) => Vec::new(),
        };
        Some(Self { essential, values })
    }
}

const fn malformed() -> Error {
    Error::new(Code::InvalidRequest, "claims is malformed or too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = r#"{"userinfo":{"name":null,"email":{"essential":true},"sub":null},
        "id_token":{"acr":{"essential":true,"values":["phr"]},"name#fr":null}}"#;

    #[test]
    fn essential_and_voluntary_claims_of_both_places_are_asked_for() {
        let claims = RequestedClaims::parse(ASKED).unwrap();
        let scopes = ScopeSet::parse("openid phone").unwrap();
        let question = claims.question(&scopes, |claim| claim != "phone_number_verified");
        assert_eq!(Vec::from_iter(&question.essential), ["email"]);
        assert_eq!(
            Vec::from_iter(&question.voluntary),
            ["name", "phone_number"]
        );
        assert_eq!(claims.demanded("acr"), Some(&[Value::from("phr")][..]));
        assert_eq!(claims.demanded("name#fr"), None);
    }

    #[test]
    fn a_parameter_that_is_malformed_or_enormous_is_refused() {
        let many: Map<String, Value> = (0..65).map(|i| (format!("c{i}"), Value::Null)).collect();
        let many = serde_json::json!({ "userinfo": many }).to_string();
        let long = format!(r#"{{"userinfo":{{"{}":null}}}}"#, "a".repeat(129));
        for bad in [
            "[]",
            "",
            r#"{"userinfo":[]}"#,
            r#"{"userinfo":{"a":1}}"#,
            r#"{"userinfo":{"a":{"essential":"yes"}}}"#,
            r#"{"userinfo":{"a":null,"a":null}}"#,
            &many,
            &long,
        ] {
            let error = RequestedClaims::parse(bad).unwrap_err();
            assert_eq!(error.code, Code::InvalidRequest, "{bad}");
        }
    }
}
