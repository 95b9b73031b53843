//! Checks of a declaration. Each flaw names its place, such as `needs[1].conditions[0].claim`.

mod meaning;

use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use crate::model::{Condition, Fill, KnownClaim, Prerequisite, Prerequisites};

/// Maximum number of needed credentials.
const NEEDS_MAX: usize = 16;
/// Maximum number of sets of needed credentials.
const OPTIONS_MAX: usize = 16;
/// Maximum number of conditions of a needed credential, of values in one, and of issuers and types of a needed one.
const ENTRIES_MAX: usize = 50;
/// Maximum number of claims that a needed credential is asked for, so that the query is one that wallets take.
const ASKED_MAX: usize = 60;
/// Maximum number of claims that are filled.
const FILLS_MAX: usize = 200;
/// Maximum number of bytes of a name, and of each name on a path.
const NAME_MAX: usize = 64;
/// Maximum number of names on a path.
const DEPTH_MAX: usize = 8;
/// Maximum number of bytes of a title, a type, an issuer, an address or a value.
const TEXT_MAX: usize = 500;
/// Maximum number of minutes for which a proof counts: a day, as long as an applicant's answer is kept.
const MINUTES_MAX: u32 = 24 * 60;
/// Maximum number of days for which a credential must still be valid: a hundred years.
const DAYS_MAX: u32 = 36_525;

/// What is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Flaw {
    /// What kind of flaw.
    pub kind: FlawKind,
    /// Where it is in the declaration.
    pub place: String,
}

/// Kinds of flaws.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FlawKind {
    /// There are too few or too many entries.
    Entries,
    /// A text is empty, too long or has other characters.
    Text,
    /// A number is outside its bounds.
    Bounds,
    /// A name stands for several needed credentials, or a set of them is listed twice.
    Twice,
    /// A name stands for no needed credential, or for one that is not always proven together with this one.
    Unknown,
    /// Either none or several of the members are given of which one must be.
    Choice,
    /// No credential can ever meet the conditions.
    Never,
    /// Nothing looks at a needed credential: no set has it.
    Unused,
}

/// Checks a declaration. `known` is what the types of needed credentials say of their claims. With `today`, the number
/// of the day since 1970-01-01, conditions whose time is over are found too.
#[must_use]
pub fn check(declared: &Prerequisites, known: &[KnownClaim], today: Option<i64>) -> Vec<Flaw> {
    let mut found = Flaws::default();
    found.entries("needs", declared.needs.len(), 1..=NEEDS_MAX);
    found.entries("options", declared.options.len(), 0..=OPTIONS_MAX);
    found.entries("fills", declared.fills.len(), 0..=FILLS_MAX);
    if !(1..=MINUTES_MAX).contains(&declared.proof_minutes) {
        found.add(FlawKind::Bounds, "proof_minutes");
    }
    if !found.0.is_empty() {
        return found.0;
    }
    let mut names = BTreeSet::new();
    for (number, need) in declared.needs.iter().enumerate() {
        let place = format!("needs[{number}]");
        found.need(need, &place);
        if !names.insert(&need.name) {
            found.add(FlawKind::Twice, &format!("{place}.name"));
        }
        let asked = declared.looked_at(&need.name).len();
        found.entries(&place, asked, 0..=ASKED_MAX);
    }
    found.options(declared);
    for (number, fill) in declared.fills.iter().enumerate() {
        found.fill(declared, fill, &format!("fills[{number}]"));
    }
    if found.0.is_empty() {
        found.0.extend(meaning::flaws(declared, known, today));
    }
    found.0
}

/// Whether a text can be the name of a needed credential: the id of a credential query (OpenID4VP 1.0 §6.1).
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(fits)
}

#[derive(Default)]
struct Flaws(Vec<Flaw>);

impl Flaws {
    fn add(&mut self, kind: FlawKind, place: &str) {
        let place = place.to_owned();
        self.0.push(Flaw { kind, place });
    }

    fn entries(&mut self, place: &str, number: usize, wanted: std::ops::RangeInclusive<usize>) {
        if !wanted.contains(&number) {
            self.add(FlawKind::Entries, place);
        }
    }

    fn text(&mut self, text: &str, place: &str) {
        let is_text = !text.trim().is_empty() && text.len() <= TEXT_MAX;
        if !is_text || text.chars().any(char::is_control) {
            self.add(FlawKind::Text, place);
        }
    }

    fn path(&mut self, path: &[String], place: &str) {
        let is_name = |name: &String| (1..=NAME_MAX).contains(&name.len());
        if !(1..=DEPTH_MAX).contains(&path.len()) || !path.iter().all(is_name) {
            self.add(FlawKind::Text, place);
        }
    }

    fn need(&mut self, need: &Prerequisite, place: &str) {
        if !is_name(&need.name) {
            self.add(FlawKind::Text, &format!("{place}.name"));
        }
        if need.type_id.is_some() != need.vct_values.is_empty() {
            self.add(FlawKind::Choice, &format!("{place}.vct_values"));
        }
        for (name, number) in [
            ("vct_values", need.vct_values.len()),
            ("issuers", need.issuers.len()),
            ("conditions", need.conditions.len()),
        ] {
            self.entries(&format!("{place}.{name}"), number, 0..=ENTRIES_MAX);
        }
        let texts = need.title.iter().map(|text| ("title", text));
        let texts = texts.chain(need.vct_values.iter().map(|text| ("vct_values", text)));
        let texts = texts.chain(need.issuers.iter().map(|text| ("issuers", text)));
        for (name, text) in texts.chain(need.get_at.iter().map(|text| ("get_at", text))) {
            self.text(text, &format!("{place}.{name}"));
        }
        if !need.get_at.as_deref().is_none_or(is_address) {
            self.add(FlawKind::Text, &format!("{place}.get_at"));
        }
        if need.days_left.is_some_and(|days| days > DAYS_MAX) {
            self.add(FlawKind::Bounds, &format!("{place}.days_left"));
        }
        for (number, condition) in need.conditions.iter().take(ENTRIES_MAX).enumerate() {
            self.condition(condition, &format!("{place}.conditions[{number}]"));
        }
    }

    fn condition(&mut self, condition: &Condition, place: &str) {
        self.path(&condition.claim, &format!("{place}.claim"));
        self.entries(
            &format!("{place}.one_of"),
            condition.one_of.len(),
            0..=ENTRIES_MAX,
        );
        for value in condition.equals.iter().chain(&condition.one_of) {
            self.value(value, place);
        }
        let numbers = condition.at_least.iter().chain(&condition.at_most);
        if numbers.copied().any(|number| !number.is_finite()) {
            self.add(FlawKind::Bounds, place);
        }
        if let Some(other) = &condition.same_as {
            self.path(&other.claim, &format!("{place}.same_as.claim"));
        }
    }

    /// A value that conditions compare or a claim gets: a text, a number or a truth.
    fn value(&mut self, value: &Value, place: &str) {
        let is_plain = match value {
            Value::String(text) => text.len() <= TEXT_MAX,
            Value::Number(_) | Value::Bool(_) => true,
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        if !is_plain {
            self.add(FlawKind::Text, place);
        }
    }

    fn options(&mut self, declared: &Prerequisites) {
        let mut seen = BTreeSet::new();
        for (number, set) in declared.options.iter().enumerate() {
            let place = format!("options[{number}]");
            let names: BTreeSet<&String> = set.iter().collect();
            if names.len() != set.len() || set.is_empty() || !seen.insert(names) {
                self.add(FlawKind::Twice, &place);
            }
            if !set.iter().all(|name| declared.need(name).is_some()) {
                self.add(FlawKind::Unknown, &place);
            }
        }
        let is_used = |need: &Prerequisite| {
            declared
                .options
                .iter()
                .flatten()
                .any(|one| *one == need.name)
        };
        for (number, need) in declared.needs.iter().enumerate() {
            if !declared.options.is_empty() && !is_used(need) {
                self.add(FlawKind::Unused, &format!("needs[{number}]"));
            }
        }
    }

    fn fill(&mut self, declared: &Prerequisites, fill: &Fill, place: &str) {
        self.path(&fill.claim, &format!("{place}.claim"));
        let given = [
            fill.proven.is_some(),
            fill.literal.is_some(),
            fill.helper.is_some(),
        ];
        if given.into_iter().filter(|is_given| *is_given).count() != 1 {
            self.add(FlawKind::Choice, place);
        }
        if fill.optional && fill.proven.is_none() {
            self.add(FlawKind::Choice, &format!("{place}.optional"));
        }
        if let Some(value) = &fill.literal {
            self.value(value, &format!("{place}.literal"));
        }
        if let Some(proven) = &fill.proven {
            self.path(&proven.claim, &format!("{place}.proven.claim"));
            if declared.need(&proven.need).is_none() {
                self.add(FlawKind::Unknown, &format!("{place}.proven.need"));
            }
        }
        let others = declared.fills.iter().filter(|one| one.claim == fill.claim);
        let mut others = others.filter(|one| !std::ptr::eq(*one, fill));
        if others.any(|other| other.proven.is_none() || fill.proven.is_none()) {
            self.add(FlawKind::Twice, &format!("{place}.claim"));
        }
    }
}

/// Whether people can be sent to an address: over TLS, or on this machine.
#[must_use]
pub fn is_address(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let is_named = url.username().is_empty() && url.password().is_none();
    is_named && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}
