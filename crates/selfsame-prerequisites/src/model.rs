//! The declaration, as the file of a credential type has it. docs/prerequisites.md explains each member.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::day::Day;

/// What must be proven before a credential is offered.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prerequisites {
    /// Number of minutes for which a proof counts, from the wallet's answer to the issuance.
    #[serde(default = "an_hour")]
    pub proof_minutes: u32,
    /// The sets of needed credentials of which one must be proven as a whole, by name. Default: one set of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Vec<String>>,
    /// The needed credentials.
    pub needs: Vec<Prerequisite>,
    /// What fills the claims of the new credential. The applicant gives those that are not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fills: Vec<Fill>,
}

/// A needed credential.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prerequisite {
    /// Its name within the declaration: letters, digits, `_` and `-`. It is the id of its credential query.
    pub name: String,
    /// The id of its type, if the organisation issues it itself; use either this or `vct_values`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_id: Option<String>,
    /// Its SD-JWT VC types, of which it must have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vct_values: Vec<String>,
    /// What people call it. Default: the title of its type, or else its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The address where people get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub get_at: Option<String>,
    /// The issuers it may come from. Default: all that the organisation trusts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issuers: Vec<String>,
    /// Number of days for which it must still be valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_left: Option<u32>,
    /// The conditions on its claims; all must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A condition on a claim. The claim must be there, and all members that are given must hold.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The path of the claim.
    pub claim: Vec<String>,
    /// The value that it must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// The values of which it must have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Value>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The first day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Day>,
    /// The last day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Day>,
    /// The claim of another needed credential that must have the same value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<ClaimOf>,
}

/// A claim of a needed credential.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimOf {
    /// The name of the needed credential.
    pub need: String,
    /// The path of the claim.
    pub claim: Vec<String>,
}

/// What fills a claim of the new credential: exactly one of `proven`, `literal` and `helper`. A claim can have several
/// that are `proven`; the first credential that was shown fills it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// The path of the claim in the new credential.
    pub claim: Vec<String>,
    /// The proven claim whose value it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<ClaimOf>,
    /// The value that it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literal: Option<Value>,
    /// What makes its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helper: Option<Helper>,
    /// Whether the needed credential may lack the proven claim.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Whether the applicant may change it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_change: bool,
}

/// What makes a value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Helper {
    /// The date of the application.
    Today,
    /// The date on which the new credential ends.
    EndOfValidity,
    /// A number of the application that no other has: 16 hexadecimal digits.
    Identifier,
}

/// What is known of a claim of a needed credential from its type.
#[derive(Clone, Debug, Default)]
pub struct KnownClaim {
    /// The name of the needed credential.
    pub need: String,
    /// The path of the claim.
    pub claim: Vec<String>,
    /// The values it can have; empty for all.
    pub values: Vec<String>,
    /// The least number.
    pub min: Option<f64>,
    /// The greatest number.
    pub max: Option<f64>,
}

impl Prerequisites {
    /// The needed credential of this name.
    #[must_use]
    pub fn need(&self, name: &str) -> Option<&Prerequisite> {
        self.needs.iter().find(|need| need.name == name)
    }

    /// The sets of needed credentials of which one must be proven.
    #[must_use]
    pub fn sets(&self) -> Vec<Vec<&Prerequisite>> {
        if self.options.is_empty() {
            return vec![self.needs.iter().collect()];
        }
        let named = |set: &Vec<String>| set.iter().filter_map(|name| self.need(name)).collect();
        self.options.iter().map(named).collect()
    }

    /// The paths of the claims of a needed credential that conditions look at or that fill a claim.
    #[must_use]
    pub fn looked_at(&self, name: &str) -> BTreeSet<&Vec<String>> {
        let of = self.needs.iter().filter(|need| need.name == name);
        let judged = of.flat_map(|need| need.conditions.iter().map(|condition| &condition.claim));
        let all = self.needs.iter().flat_map(|need| &need.conditions);
        let compared = all.filter_map(|condition| condition.same_as.as_ref());
        let taken = self.fills.iter().filter_map(|fill| fill.proven.as_ref());
        let of_others = compared.chain(taken).filter(|one| one.need == name);
        judged.chain(of_others.map(|one| &one.claim)).collect()
    }

    /// Those of them that the needed credential may lack: they are taken by optional fills alone.
    #[must_use]
    pub fn optional(&self, name: &str) -> BTreeSet<&Vec<String>> {
        let mut needed = self.clone();
        needed.fills.retain(|fill| !fill.optional);
        let needed = needed.looked_at(name);
        let mut optional = self.looked_at(name);
        optional.retain(|path| !needed.contains(path));
        optional
    }

    /// This declaration with SD-JWT VC types in place of the ids of types, as `of_type` gives them.
    #[must_use]
    pub fn resolved(&self, of_type: impl Fn(&str) -> Vec<String>) -> Self {
        let mut resolved = self.clone();
        for need in &mut resolved.needs {
            if let Some(id) = need.type_id.take() {
                need.vct_values = of_type(&id);
            }
        }
        resolved
    }
}

const fn an_hour() -> u32 {
    60
}

const fn is_false(value: &bool) -> bool {
    !*value
}
