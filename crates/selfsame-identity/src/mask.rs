//! Addresses with most of their characters masked, as people are shown them.

/// An e-mail address whose local part shows every third character: `maja@example.org` becomes `XXjX@example.org`.
#[must_use]
pub fn email(address: &str) -> String {
    let local = address.find('@').unwrap_or(address.len());
    let mask = |(place, (at, c)): (usize, (usize, char))| match at < local && place % 3 != 2 {
        true => 'X',
        false => c,
    };
    address.char_indices().enumerate().map(mask).collect()
}

/// A telephone number whose second half is shown: `9427357934` becomes `XXXXXX7934`.
#[must_use]
pub fn phone(number: &str) -> String {
    let masked = number.chars().count() / 2 + 1;
    let mask = |(place, c): (usize, char)| if place < masked { 'X' } else { c };
    number.chars().enumerate().map(mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_email_address_every_third_character_and_the_domain_are_shown() {
        assert_eq!(email("maja@example.org"), "XXjX@example.org");
        assert_eq!(email("a@example.org"), "X@example.org");
        assert_eq!(email("zoë"), "XXë");
        assert_eq!(email(""), "");
    }

    #[test]
    fn of_a_telephone_number_less_than_half_is_shown() {
        assert_eq!(phone("9427357934"), "XXXXXX7934");
        assert_eq!(phone("12"), "XX");
        assert_eq!(phone(""), "");
    }
}
