//! The values that conditions leave to a claim, so far as it can be told without knowing the claim.

use serde_json::Value;

use crate::day::{Day, of_date};
use crate::model::{Condition, KnownClaim};

/// The values that remain. Each member that is absent leaves all values.
#[derive(Clone, Debug, Default)]
pub struct ValueSpan {
    allowed: Option<Vec<Value>>,
    least: Option<f64>,
    greatest: Option<f64>,
    first: Option<i64>,
    last: Option<i64>,
    /// Days from today.
    first_from_today: Option<i64>,
    last_from_today: Option<i64>,
}

impl ValueSpan {
    /// Leaves only what this condition leaves.
    pub fn narrow(&mut self, condition: &Condition) {
        if let Some(value) = &condition.equals {
            self.allow(std::slice::from_ref(value));
        }
        if !condition.one_of.is_empty() {
            self.allow(&condition.one_of);
        }
        self.least = greater(self.least, condition.at_least);
        self.greatest = lesser(self.greatest, condition.at_most);
        match condition.not_before {
            Some(Day::Date(day)) => self.first = self.first.max(Some(day)),
            Some(Day::FromToday(days)) => {
                self.first_from_today = self.first_from_today.max(Some(days));
            }
            None => {}
        }
        match condition.not_after {
            Some(Day::Date(day)) => self.last = least(self.last, day),
            Some(Day::FromToday(days)) => self.last_from_today = least(self.last_from_today, days),
            None => {}
        }
    }

    /// Leaves only what the claim's own type leaves.
    pub fn narrow_to(&mut self, known: &KnownClaim) {
        if !known.values.is_empty() {
            let values = known.values.iter().map(|value| Value::from(value.as_str()));
            self.allow(&values.collect::<Vec<_>>());
        }
        self.least = greater(self.least, known.min);
        self.greatest = lesser(self.greatest, known.max);
    }

    /// Leaves only what both leave.
    pub fn join(&mut self, other: &Self) {
        if let Some(allowed) = &other.allowed {
            self.allow(allowed);
        }
        self.least = greater(self.least, other.least);
        self.greatest = lesser(self.greatest, other.greatest);
        self.first = self.first.max(other.first);
        self.first_from_today = self.first_from_today.max(other.first_from_today);
        self.last = other.last.map_or(self.last, |day| least(self.last, day));
        let from_today = other.last_from_today;
        self.last_from_today = from_today.map_or(self.last_from_today, |days| {
            least(self.last_from_today, days)
        });
    }

    /// Whether no value is left, now and later. Without `today` only what holds on every day is seen.
    pub fn is_empty(&self, today: Option<i64>) -> bool {
        let is_number = self.least.is_some() || self.greatest.is_some();
        if let Some(allowed) = &self.allowed {
            return !allowed.iter().any(|value| self.leaves(value, today));
        }
        (is_number && self.is_day())
            || matches!((self.least, self.greatest), (Some(least), Some(most)) if least > most)
            || self.leaves_no_day(today)
    }

    fn leaves(&self, value: &Value, today: Option<i64>) -> bool {
        let number = value.as_f64();
        let is_within = |number: f64| {
            self.least.is_none_or(|least| number >= least)
                && self.greatest.is_none_or(|most| number <= most)
        };
        let is_number = self.least.is_some() || self.greatest.is_some();
        if is_number && !number.is_some_and(is_within) {
            return false;
        }
        if !self.is_day() {
            return true;
        }
        let Some(day) = value.as_str().and_then(of_date) else {
            return false;
        };
        let one_day = Self {
            first: self.first.max(Some(day)),
            last: least(self.last, day),
            allowed: None,
            ..self.clone()
        };
        !one_day.leaves_no_day(today)
    }

    fn is_day(&self) -> bool {
        let bounds = [
            self.first,
            self.last,
            self.first_from_today,
            self.last_from_today,
        ];
        bounds.iter().any(Option::is_some)
    }

    /// Days that are near today now lie in the past later, so a last day ends what is counted from today, and a first
    /// day does not.
    fn leaves_no_day(&self, today: Option<i64>) -> bool {
        let is_behind = |first: Option<i64>, last: Option<i64>| matches!((first, last), (Some(first), Some(last)) if first > last);
        let sum = |today: i64| Some(self.first_from_today?.saturating_add(today));
        is_behind(self.first, self.last)
            || is_behind(self.first_from_today, self.last_from_today)
            || is_behind(today.and_then(sum), self.last)
    }

    fn allow(&mut self, values: &[Value]) {
        let left = match self.allowed.take() {
            None => values.to_vec(),
            Some(mut left) => {
                left.retain(|one| values.iter().any(|other| is_same(one, other)));
                left
            }
        };
        self.allowed = Some(left);
    }
}

/// Whether two claims have the same value. Numbers are compared by what they say: JSON does not tell 1 from 1.0.
pub fn is_same(one: &Value, other: &Value) -> bool {
    // What is whole is compared exactly; above 2^53 floats would not tell neighbours apart.
    let is_whole = |value: &Value| value.is_i64() || value.is_u64();
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) if !is_whole(one) || !is_whole(other) => a.total_cmp(&b).is_eq(),
        _ => one == other,
    }
}

fn greater(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

fn lesser(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn least(one: Option<i64>, other: i64) -> Option<i64> {
    Some(one.map_or(other, |one| one.min(other)))
}
