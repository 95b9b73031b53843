//! What the published library and ours have in common for tests and benches.

use serde_json::Value;

/// Who can do every step of every flow, on messages as JSON text. The names of calls and arguments are those of
/// `oracle.py`.
pub trait Party {
    /// Who it is, for reports.
    #[allow(dead_code, reason = "only the cross-tests report")]
    fn name(&self) -> &'static str;
    /// One step: its results, or why it is refused.
    fn call(&mut self, call: &str, arguments: &Value) -> Result<Value, String>;
}
