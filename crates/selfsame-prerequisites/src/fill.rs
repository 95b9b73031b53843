//! What the form of a new credential is filled with, and what comes of a filled form.

use selfsame_crypto::encoding::hex_encode;
use serde_json::Value;

use crate::day::{Day, date};
use crate::judge::{MetPrerequisites, at};
use crate::model::{Fill, Helper, Prerequisites};
use crate::span::is_same;
use selfsame_crypto::time::UnixTime;

/// What helpers make values of.
#[derive(Clone, Copy, Debug)]
pub struct FormFacts {
    /// When it began.
    pub began: UnixTime,
    /// Number of days for which the new credential is valid.
    pub validity_days: u64,
    /// What no other application has.
    pub identifier: [u8; 8],
}

/// A claim of the new credential that is filled.
#[derive(Clone, Debug, PartialEq)]
pub struct FilledClaim {
    /// Its path.
    pub claim: Vec<String>,
    /// Its value; null if the credential that was shown has none, so that the new one has none either.
    pub value: Value,
    /// The name of the needed credential that it comes from.
    pub need: Option<String>,
    /// Whether the applicant must leave it as it is.
    pub is_locked: bool,
}

/// The claims that are filled once a declaration is met. A claim whose credential was not shown is left to the applicant.
#[must_use]
pub fn filled(
    declared: &Prerequisites,
    met: &MetPrerequisites<'_>,
    application: &FormFacts,
) -> Vec<FilledClaim> {
    let mut filled: Vec<FilledClaim> = Vec::new();
    for fill in &declared.fills {
        let is_done = filled.iter().any(|one| one.claim == fill.claim);
        let value = value(fill, met, application).filter(|_| !is_done);
        let Some(value) = value.filter(|value| !value.is_null() || !fill.may_change) else {
            continue;
        };
        filled.push(FilledClaim {
            claim: fill.claim.clone(),
            value,
            need: fill.proven.as_ref().map(|proven| proven.need.clone()),
            is_locked: !fill.may_change,
        });
    }
    filled
}

/// The locked claims, which take the place of what a form has for them.
///
/// # Errors
/// The path of the first locked claim that the form has with another value.
pub fn locked<'f>(
    filled: &'f [FilledClaim],
    form: &Value,
) -> Result<Vec<&'f FilledClaim>, &'f [String]> {
    let locked: Vec<&FilledClaim> = filled.iter().filter(|one| one.is_locked).collect();
    let is_other = |one: &&&FilledClaim| {
        let given = at(form, &one.claim);
        given.is_some_and(|given| !is_same(given, &one.value))
    };
    match locked.iter().find(is_other) {
        Some(changed) => Err(&changed.claim),
        None => Ok(locked),
    }
}

fn value(fill: &Fill, met: &MetPrerequisites<'_>, application: &FormFacts) -> Option<Value> {
    if let Some(proven) = &fill.proven {
        let shown = met.shown(&proven.need)?;
        return Some(
            at(&shown.claims, &proven.claim)
                .cloned()
                .unwrap_or_default(),
        );
    }
    let today = Day::of(application.began);
    let end = i64::try_from(application.validity_days).unwrap_or(i64::MAX);
    match fill.helper {
        Some(Helper::Today) => Some(Value::from(date(today))),
        Some(Helper::EndOfValidity) => Some(Value::from(date(today.saturating_add(end)))),
        Some(Helper::Identifier) => Some(Value::from(hex_encode(&application.identifier))),
        None => fill.literal.clone(),
    }
}
