//! Pictures, drawn as SVG without styles.

use selfsame_agent_view::seen::WireMessage;

/// The arrow of a message from one side to the other: ours goes to the right.
pub fn arrow(message: &WireMessage) -> &'static str {
    line(message.is_ours)
}

/// An arrow to the right or to the left.
pub fn line(is_to_the_right: bool) -> &'static str {
    match is_to_the_right {
        true => {
            r#"<svg aria-hidden="true"><line x1="0" y1="7" x2="100%" y2="7"/><svg x="100%" overflow="visible"><path d="M-11 1L0 7L-11 13z"/></svg></svg>"#
        }
        false => {
            r#"<svg aria-hidden="true"><line x1="0" y1="7" x2="100%" y2="7"/><path d="M11 1L0 7L11 13z"/></svg>"#
        }
    }
}

/// How full a registry is, as a bar.
pub fn fill(used: u32, room: u32) -> String {
    let share = u64::from(used).saturating_mul(1_000) / u64::from(room.max(1));
    let share = share.min(1_000);
    let (whole, rest) = (share / 10, share % 10);
    let class = match used >= room {
        true => "is-full",
        false => "is-used",
    };
    format!(
        r#"<svg class="fill" role="img" aria-label="{used} of {room} places given out"><rect width="100%" height="12" rx="6"/><rect class="{class}" width="{whole}.{rest}%" height="12" rx="6"/></svg>"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_the_registry_is_full() {
        assert!(fill(0, 999).contains(r#"class="is-used" width="0.0%""#));
        assert!(fill(333, 999).contains(r#"width="33.3%""#));
        assert!(fill(999, 999).contains(r#"class="is-full" width="100.0%""#));
        assert!(fill(7, 0).contains("100.0%") && !fill(7, 9).contains("style"));
    }
}
