//! Numbers of half precision, and the shortest form of a number (RFC 8949 §4.2.2, Appendix D).

/// A number of half precision as one of double precision.
pub fn from_half(half: u16) -> f64 {
    let exponent = i32::from((half >> 10) & 0x1f);
    let mantissa = f64::from(half & 0x03ff);
    let magnitude = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2_f64.powi(exponent.saturating_sub(25)),
    };
    match half & 0x8000 {
        0 => magnitude,
        _ => -magnitude,
    }
}

/// The initial byte and the content of the shortest form that has the same value.
pub fn shortest(number: f64) -> Vec<u8> {
    if number.is_nan() {
        return vec![0xf9, 0x7e, 0x00];
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether the value survives is compared below"
    )]
    let single = number as f32;
    if f64::from(single).to_bits() != number.to_bits() {
        return [&[0xfb][..], &number.to_be_bytes()].concat();
    }
    match half(single) {
        Some(half) => [&[0xf9][..], &half.to_be_bytes()].concat(),
        None => [&[0xfa][..], &single.to_be_bytes()].concat(),
    }
}

/// The number in half precision, if it has the same value there.
fn half(single: f32) -> Option<u16> {
    let bits = single.to_bits();
    let sign = u16::try_from((bits >> 16) & 0x8000).ok()?;
    let exponent = i32::try_from((bits >> 23) & 0xff).ok()?.saturating_sub(127);
    let mantissa = bits & 0x007f_ffff;
    let magnitude = match exponent {
        128 => Some(0x7c00),
        -14..=15 => {
            let exponent = u16::try_from(exponent.saturating_add(15)).ok()? << 10;
            Some(exponent | u16::try_from(mantissa >> 13).ok()?)
        }
        // Below the normal numbers the leading one is written.
        -24..=-15 => {
            let shift = u32::try_from((-1_i32).saturating_sub(exponent)).ok()?;
            u16::try_from((mantissa | 0x0080_0000).checked_shr(shift)?).ok()
        }
        -127 => Some(0),
        _ => None,
    };
    let half = sign | magnitude?;
    (from_half(half).to_bits() == f64::from(single).to_bits()).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_8949_have_their_shortest_forms() {
        for (number, form) in [
            (0.0, &[0xf9, 0x00, 0x00][..]),
            (-0.0, &[0xf9, 0x80, 0x00]),
            (1.0, &[0xf9, 0x3c, 0x00]),
            (1.1, &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (1.5, &[0xf9, 0x3e, 0x00]),
            (65_504.0, &[0xf9, 0x7b, 0xff]),
            (100_000.0, &[0xfa, 0x47, 0xc3, 0x50, 0x00]),
            (5.960_464_477_539_063e-8, &[0xf9, 0x00, 0x01]),
            (0.000_061_035_156_25, &[0xf9, 0x04, 0x00]),
            (-4.0, &[0xf9, 0xc4, 0x00]),
            (f64::INFINITY, &[0xf9, 0x7c, 0x00]),
            (f64::NEG_INFINITY, &[0xf9, 0xfc, 0x00]),
            (f64::NAN, &[0xf9, 0x7e, 0x00]),
        ] {
            assert_eq!(shortest(number), form, "{number}");
        }
    }

    #[test]
    fn each_number_of_half_precision_is_its_own_shortest_form() {
        for half in 0..=u16::MAX {
            let number = from_half(half);
            if !number.is_nan() {
                let form = [&[0xf9][..], &half.to_be_bytes()].concat();
                assert_eq!(shortest(number), form, "{half:04x}");
            }
        }
    }
}
