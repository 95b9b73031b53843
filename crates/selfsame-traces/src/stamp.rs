//! The stamp of a trace context: a code by which processes that share a key know that one of them wrote it. Callers
//! can't forge it, so a balancer that passes on their headers does no harm.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq as _;

use crate::context::TraceContext;

/// Our key in `tracestate` (W3C Trace Context §3.3.2.2.1).
const KEY: &str = "selfsame";
/// The longest `tracestate` that is read, in bytes (§3.3.1.5 wants 512 at least).
const STATE_MAX: usize = 4_096;

/// Computes the code of a text.
type StampCode = dyn Fn(&[u8]) -> [u8; 16] + Send + Sync;

/// Gives the code of a text, under a key that the caller holds.
#[derive(Clone)]
pub struct Stamp(Arc<StampCode>);

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stamp")
    }
}

impl Stamp {
    /// A stamp that this function makes.
    pub fn new(code: impl Fn(&[u8]) -> [u8; 16] + Send + Sync + 'static) -> Self {
        Self(Arc::new(code))
    }

    /// The `tracestate` for this context.
    pub fn state(&self, context: &TraceContext) -> String {
        let code = u128::from_be_bytes((self.0)(context.to_string().as_bytes()));
        format!("{KEY}={code:032x}")
    }

    /// Whether a `tracestate` has the stamp of this context.
    pub fn is_on(&self, context: &TraceContext, state: &str) -> bool {
        if state.len() > STATE_MAX {
            return false;
        }
        let wanted = self.state(context);
        let mut members = state
            .split(',')
            .map(|member| member.trim_matches([' ', '\t']));
        members.any(|member| member.as_bytes().ct_eq(wanted.as_bytes()).into())
    }
}
