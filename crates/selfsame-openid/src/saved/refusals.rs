//! Refusals that several checks give.

use selfsame_driver::Reason;

/// A list is longer than it may be.
pub(super) fn many(place: &str, maximum: usize) -> Reason {
    Reason::new("type-many")
        .with("place", place)
        .with("maximum", &maximum)
}
