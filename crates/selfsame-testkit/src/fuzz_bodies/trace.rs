//! What callers send of traces.

use selfsame_traces::{Stamp, TraceContext};

/// `traceparent`, and a `tracestate` after the first zero byte.
pub fn traceparent(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let (parent, state) = text.split_once('\0').unwrap_or((text, ""));
    let Ok(context) = parent.parse::<TraceContext>() else {
        return false;
    };
    let written = context.to_string();
    assert_eq!(written.parse::<TraceContext>().ok(), Some(context));
    assert_eq!(parent.get(3..52), written.get(3..52));
    let stamp = Stamp::new(|_| [7; 16]);
    let is_stamped = state.contains(&stamp.state(&context));
    assert!(is_stamped || !stamp.is_on(&context, state));
    true
}
