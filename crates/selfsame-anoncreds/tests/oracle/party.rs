//! The common interface of the published library and ours, for tests and benches.

use serde_json::Value;

/// A party that can do every step of every flow, on messages as JSON text. The names of calls and arguments are those
/// of `oracle.py`.
pub trait Party {
    /// The party's name, for reports.
    #[allow(dead_code, reason = "only the cross-tests report")]
    fn name(&self) -> &'static str;
    /// One step: its results, or the reason for a refusal.
    fn call(&mut self, call: &str, arguments: &Value) -> Result<Value, String>;
}
