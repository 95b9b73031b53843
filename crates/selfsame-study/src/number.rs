//! Numbers as people read them: three digits that matter, thousands apart.

/// A measured number.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    let places = match size {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.1 => 3,
        0.0 => 0,
        _ => 4,
    };
    let text = trimmed(format!("{value:.places$}"));
    apart(&text)
}

/// A number of a paper, as it prints it.
#[must_use]
pub fn printed(value: f64) -> String {
    apart(&value.to_string())
}

/// How many times better: two digits.
#[must_use]
pub fn times(ratio: f64) -> String {
    let places = match ratio {
        ratio if ratio >= 10.0 => 0,
        ratio if ratio >= 1.95 => 1,
        _ => 2,
    };
    format!("{}×", apart(&format!("{ratio:.places$}")))
}

/// Without zeros at the end of the decimals.
fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => {
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_owned()
        }
        false => text,
    }
}

/// With commas between thousands.
fn apart(text: &str) -> String {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("−", rest),
        None => ("", text),
    };
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, format!(".{decimals}")),
        None => (text, String::new()),
    };
    let mut spaced = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            spaced.push(',');
        }
        spaced.push(digit);
    }
    format!("{sign}{spaced}{decimals}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let told = [0.0, 0.01234, 0.5, 1.5, 12.34, 123.4, 12_345.6, -2.0].map(number);
        let expected = ["0", "0.0123", "0.5", "1.5", "12.3", "123", "12,346", "−2"];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_paper_is_quoted_as_it_prints() {
        assert_eq!(
            [1040.0, 0.03, 11.75].map(printed),
            ["1,040", "0.03", "11.75"]
        );
    }

    #[test]
    fn ratios_have_two_digits() {
        let told = [0.5, 1.049, 1.96, 17.4, 1234.5].map(times);
        assert_eq!(told, ["0.50×", "1.05×", "2.0×", "17×", "1,234×"]);
    }
}
