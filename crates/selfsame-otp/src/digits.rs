//! Digits as people type them.

use selfsame_crypto::SecretString;

/// The first of ten digits in a row, in the scripts of the languages that our pages have, and in full width.
const ZEROS: [char; 5] = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{ff10}'];
/// Codes are never longer.
const TYPED_MAX: usize = 64;

/// The ASCII digits of a code that was typed or pasted, without spaces and hyphens between them; `None` if it is
/// anything else, or has another length.
pub(crate) fn read(typed: &SecretString, length: usize) -> Option<SecretString> {
    let typed = typed.expose();
    if typed.len() > TYPED_MAX {
        return None;
    }
    let meant = typed.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let digits: Option<String> = meant.map(digit).collect();
    let digits = SecretString::new(digits?);
    (digits.expose().len() == length).then_some(digits)
}

fn digit(typed: char) -> Option<char> {
    let mut values = ZEROS.iter().filter_map(|zero| {
        let value = u32::from(typed).checked_sub(u32::from(*zero))?;
        char::from_digit(value, 10)
    });
    values.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six(typed: &str) -> Option<String> {
        let digits = read(&typed.into(), 6);
        digits.map(|digits| digits.expose().to_owned())
    }

    #[test]
    fn a_code_is_read_in_each_script_of_the_pages_and_with_spaces() {
        for typed in [
            "123456",
            " 123 456\n",
            "123-456",
            "\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}",
            "\u{6f1}\u{6f2}\u{6f3}\u{6f4}\u{6f5}\u{6f6}",
            "\u{967}\u{968}\u{969}\u{96a}\u{96b}\u{96c}",
            "\u{ff11}\u{ff12}\u{ff13}\u{ff14}\u{ff15}\u{ff16}",
        ] {
            assert_eq!(six(typed).as_deref(), Some("123456"), "{typed}");
        }
    }

    #[test]
    fn what_is_no_code_is_not_read() {
        for typed in ["", "12345", "1234567", "12345a", "12345\u{2465}", "+23456"] {
            assert_eq!(six(typed), None, "{typed}");
        }
        assert_eq!(six(&" ".repeat(100)), None);
    }
}
