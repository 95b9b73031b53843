//! Colours, and whether a text of one can be read on another.

/// Least contrast of readable text (WCAG 2.2, success criterion 1.4.3).
pub(super) const READABLE: f64 = 4.5;

/// The contrast of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2, contrast ratio); none for other texts.
#[must_use]
pub fn contrast(one: &str, other: &str) -> Option<f64> {
    let (one, other) = (luminance(one)?, luminance(other)?);
    Some((one.max(other) + 0.05) / (one.min(other) + 0.05))
}

/// The relative luminance of a colour `#rrggbb`, from 0 to 1; none for another text.
pub(super) fn luminance(color: &str) -> Option<f64> {
    let digits = color.strip_prefix('#')?;
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, red, green, blue] = number.to_be_bytes();
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        match part <= 0.04045 {
            true => part / 12.92,
            false => ((part + 0.055) / 1.055).powf(2.4),
        }
    };
    Some(0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        let rounded =
            |one, other| contrast(one, other).map(|ratio| (ratio * 100.0).round() / 100.0);
        assert_eq!(rounded("#000000", "#ffffff"), Some(21.0));
        assert_eq!(rounded("#777777", "#FFFFFF"), Some(4.48));
        assert_eq!(rounded("#767676", "#ffffff"), Some(4.54));
        for wrong in ["", "red", "#fff", "#12345g", "#+12345", "url(x)", "#éé34"] {
            assert_eq!(luminance(wrong), None, "{wrong}");
        }
    }
}
