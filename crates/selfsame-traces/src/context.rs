//! The trace context: which span of which trace, and its text `traceparent` (W3C Trace Context §3.2).

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The length of the text of version 00.
const LENGTH: usize = 55;
/// The longest text of a later version that is read.
const LENGTH_MAX: usize = 512;
const SAMPLED: u8 = 1;

/// A trace: 16 bytes, never all zero.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TraceId(u128);

/// A span in a trace: 8 bytes, never all zero.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SpanId(u64);

/// A span of a trace, and whether the trace is recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span that what follows is below.
    pub span: SpanId,
    /// Whether its spans are recorded.
    pub is_sampled: bool,
}

/// A text is not a `traceparent`. It does not say which: the text is not of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a traceparent as W3C Trace Context has it")]
pub struct ContextError;

impl TraceId {
    /// The trace of these bytes; `None` if all are zero.
    pub fn of(value: u128) -> Option<Self> {
        (value != 0).then_some(Self(value))
    }

    /// The bits that decide on sampling: the rightmost seven bytes are random (W3C Trace Context Level 2 §3.2.2.3).
    pub(crate) fn random_bits(self) -> u64 {
        let low = self.0 & 0x00ff_ffff_ffff_ffff;
        u64::try_from(low).unwrap_or(u64::MAX)
    }
}

impl SpanId {
    /// The span of these bytes; `None` if all are zero.
    pub fn of(value: u64) -> Option<Self> {
        (value != 0).then_some(Self(value))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for TraceContext {
    /// The text of version 00, with no flag but `sampled`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        write!(f, "00-{}-{}-{flags:02x}", self.trace, self.span)
    }
}

impl FromStr for TraceContext {
    type Err = ContextError;

    /// Reads a `traceparent`. One of a later version is read as far as version 00 goes (W3C Trace Context §4.3).
    fn from_str(text: &str) -> Result<Self, ContextError> {
        read(text).ok_or(ContextError)
    }
}

fn read(text: &str) -> Option<TraceContext> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let (known, rest) = text.split_at_checked(LENGTH)?;
    let mut parts = known.split('-');
    let mut part = |length| parts.next().and_then(|part| digits(part, length));
    let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    match version {
        // §3.2.2.1: version 255 is invalid.
        0xff => return None,
        0 if !rest.is_empty() => return None,
        _ if !rest.is_empty() && !rest.starts_with('-') => return None,
        _ => {}
    }
    Some(TraceContext {
        trace: TraceId::of(trace)?,
        span: SpanId::of(u64::try_from(span).ok()?)?,
        is_sampled: u8::try_from(flags).ok()? & SAMPLED == SAMPLED,
    })
}

/// The number of exactly this number of hexadecimal digits, in lower case (§3.2.2).
fn digits(text: &str, length: usize) -> Option<u128> {
    let are_digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let fits = text.len() == length && are_digits;
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
