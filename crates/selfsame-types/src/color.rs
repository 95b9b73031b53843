//! Colours, and whether a text of one can be read on another.

/// Least contrast of readable text (WCAG 2.2, success criterion 1.4.3).
pub(crate) const READABLE: f64 = 4.5;
const WHITE: &str = "#ffffff";
const BLACK: &str = "#000000";

/// The contrast of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2, contrast ratio); none for other texts.
#[must_use]
pub fn contrast(one: &str, other: &str) -> Option<f64> {
    let (one, other) = (luminance(one)?, luminance(other)?);
    Some((one.max(other) + 0.05) / (one.min(other) + 0.05))
}

/// The colour of readable text on a background `#rrggbb`: white, or black if white has too little contrast. One of them
/// always has enough. None for another text.
#[must_use]
pub fn readable_on(background: &str) -> Option<&'static str> {
    let white = contrast(background, WHITE)?;
    Some(if white < READABLE { BLACK } else { WHITE })
}

/// The relative luminance of a colour `#rrggbb`, from 0 to 1; none for another text.
pub(crate) fn luminance(color: &str) -> Option<f64> {
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
    fn a_text_is_readable_on_every_colour() {
        let parts = || (0..=255_u8).step_by(15);
        for (red, green, blue) in
            parts().flat_map(|r| parts().flat_map(move |g| parts().map(move |b| (r, g, b))))
        {
            let background = format!("#{red:02x}{green:02x}{blue:02x}");
            let text = readable_on(&background).unwrap();
            assert!(
                contrast(&background, text).unwrap() >= READABLE,
                "{background}"
            );
        }
        assert_eq!(readable_on("#1f4e79"), Some("#ffffff"));
        assert_eq!(readable_on("#ffee00"), Some("#000000"));
        assert_eq!(readable_on("red"), None);
    }

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
