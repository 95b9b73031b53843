//! The factors of a sign-in by eSignet's names, and the forms of their values.

use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::Challenge;
use serde::{Deserialize, Serialize};

/// A factor as a user interface is told of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthFactor {
    r#type: &'static str,
    count: u32,
    sub_types: Option<Vec<String>>,
}

/// A challenge as a user interface sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthChallenge {
    #[serde(default)]
    auth_factor_type: String,
    #[serde(default)]
    challenge: String,
    #[serde(default)]
    format: String,
}

/// What eSignet knows of a factor.
struct Row {
    factor: FactorKind,
    name: &'static str,
    format: &'static str,
    /// The lengths of a value, in bytes.
    length: std::ops::RangeInclusive<usize>,
}

const ROWS: [Row; 7] = [
    row(FactorKind::Otp, "OTP", "alpha-numeric", 6..=6),
    row(FactorKind::Pin, "PIN", "number", 4..=12),
    row(FactorKind::Password, "PWD", "alpha-numeric", 1..=64),
    row(FactorKind::Biometrics, "BIO", "encoded-json", 1..=200_000),
    row(FactorKind::LinkedWallet, "WLA", "jwt", 1..=8_192),
    row(
        FactorKind::Knowledge,
        "KBI",
        "base64url-encoded-json",
        1..=4_096,
    ),
    row(
        FactorKind::Upstream,
        "IDT",
        "base64url-encoded-json",
        1..=8_192,
    ),
];

const fn row(
    factor: FactorKind,
    name: &'static str,
    format: &'static str,
    length: std::ops::RangeInclusive<usize>,
) -> Row {
    Row {
        factor,
        name,
        format,
        length,
    }
}

/// The combinations of factors that suffice, as far as eSignet has names for them.
pub(crate) fn combinations(all: &[Vec<FactorKind>]) -> Vec<Vec<AuthFactor>> {
    let one = |factor: &FactorKind| {
        let row = ROWS.iter().find(|row| row.factor == *factor)?;
        Some(AuthFactor {
            r#type: row.name,
            count: 0,
            sub_types: None,
        })
    };
    let combination = |factors: &Vec<FactorKind>| factors.iter().map(one).collect();
    all.iter().filter_map(combination).collect()
}

impl AuthChallenge {
    /// The challenge, if its factor and its form are known.
    ///
    /// # Errors
    /// eSignet's code.
    pub fn read(self) -> Result<Challenge, &'static str> {
        let known = |row: &&Row| {
            let old_name = row.name == "KBI" && self.auth_factor_type == "KBA";
            row.name == self.auth_factor_type || old_name
        };
        let row = ROWS.iter().find(known).ok_or("invalid_auth_factor_type")?;
        if self.format != row.format {
            return Err("invalid_challenge_format");
        }
        if !row.length.contains(&self.challenge.len()) {
            return Err("invalid_challenge_length");
        }
        Ok(Challenge {
            factor: row.factor,
            format: Some(self.format),
            value: self.challenge.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(factor: &str, challenge: &str, format: &str) -> Result<FactorKind, &'static str> {
        let challenge = AuthChallenge {
            auth_factor_type: factor.to_owned(),
            challenge: challenge.to_owned(),
            format: format.to_owned(),
        };
        challenge.read().map(|read| read.factor)
    }

    #[test]
    fn a_challenge_has_the_form_of_its_factor() {
        assert_eq!(read("OTP", "111111", "alpha-numeric"), Ok(FactorKind::Otp));
        let answers = "base64url-encoded-json";
        assert_eq!(read("KBA", "e30", answers), Ok(FactorKind::Knowledge));
        assert_eq!(
            read("OTP", "1111111", "alpha-numeric"),
            Err("invalid_challenge_length")
        );
        assert_eq!(
            read("OTP", "111111", "jwt"),
            Err("invalid_challenge_format")
        );
        assert_eq!(
            read("otp", "111111", "alpha-numeric"),
            Err("invalid_auth_factor_type")
        );
    }

    #[test]
    fn a_combination_with_a_factor_that_has_no_name_is_left_out() {
        let all = [
            vec![FactorKind::Passkey],
            vec![FactorKind::Password, FactorKind::Otp],
            vec![FactorKind::Password, FactorKind::Totp],
        ];
        let text = serde_json::to_string(&combinations(&all)).unwrap();
        assert_eq!(
            text,
            "[[{\"type\":\"PWD\",\"count\":0,\"subTypes\":null},{\"type\":\"OTP\",\"count\":0,\"subTypes\":null}]]"
        );
    }
}
