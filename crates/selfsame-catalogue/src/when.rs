//! Times for people, from RFC 3339.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The day: "21 Nov 2026". Any other text is returned unchanged.
pub fn day(time: &str) -> String {
    let parsed = || {
        let mut parts = time.get(..10)?.split('-');
        let year: u16 = parts.next()?.parse().ok()?;
        let month = MONTHS.get(parts.next()?.parse::<usize>().ok()?.checked_sub(1)?)?;
        let day: u8 = parts.next()?.parse().ok()?;
        Some(format!("{day} {month} {year}"))
    };
    parsed().unwrap_or_else(|| time.to_owned())
}

/// The day and minute, in UTC: "21 Nov 2026, 09:30".
pub fn short(time: &str) -> String {
    match time.get(11..16) {
        Some(minute) if time.is_char_boundary(10) => format!("{}, {minute} UTC", day(time)),
        _ => day(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_write_them() {
        assert_eq!(short("2026-11-21T09:30:00Z"), "21 Nov 2026, 09:30 UTC");
        assert_eq!(day("2026-01-02T00:00:00Z"), "2 Jan 2026");
        assert_eq!(short("soon"), "soon");
        assert_eq!(day("2026-13-02"), "2026-13-02");
    }
}
