//! The colour of a card: the style sheet's hue that is nearest to the issuer's choice.

/// Names of the style sheet's hues with their angle on the colour circle.
const HUES: [(&str, u16); 7] = [
    ("coral", 18),
    ("amber", 42),
    ("green", 135),
    ("teal", 185),
    ("blue", 222),
    ("violet", 272),
    ("rose", 348),
];

/// The hue nearest to a CSS colour `#rrggbb`; slate for grey and for anything that is not such a colour.
pub fn of(color: &str) -> &'static str {
    let Some((angle, saturation)) = angle(color) else {
        return "slate";
    };
    if saturation < 0.15 {
        return "slate";
    }
    let distance = |hue: u16| {
        let apart = angle.abs_diff(hue);
        apart.min(360 - apart)
    };
    HUES.iter()
        .min_by_key(|(_, hue)| distance(*hue))
        .map_or("slate", |(name, _)| name)
}

fn angle(color: &str) -> Option<(u16, f32)> {
    let digits = color
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| {
        digits
            .get(at..at + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .map(f32::from)
    };
    let (red, green, blue) = (part(0)?, part(2)?, part(4)?);
    let most = red.max(green).max(blue);
    let range = most - red.min(green).min(blue);
    if range == 0.0 {
        return Some((0, 0.0));
    }
    let sixths = if most == red {
        ((green - blue) / range).rem_euclid(6.0)
    } else if most == green {
        (blue - red) / range + 2.0
    } else {
        (red - green) / range + 4.0
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 360"
    )]
    Some(((sixths * 60.0).round() as u16 % 360, range / most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_find_their_nearest_hue() {
        assert_eq!(of("#0f766e"), "teal");
        assert_eq!(of("#7c3aed"), "violet");
        assert_eq!(of("#FF0000"), "rose");
        assert_eq!(of("#777777"), "slate");
        for strange in ["", "red", "#12345", "#éé345", "url(x)"] {
            assert_eq!(of(strange), "slate", "{strange}");
        }
    }
}
