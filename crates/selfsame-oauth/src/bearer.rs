//! Bearer tokens (RFC 6750).

use selfsame_crypto::SecretString;

use crate::error::{Code, Error};

/// The longest token that is parsed, in bytes.
const MAX_LENGTH: usize = 4096;

/// Parses the token from the value of an `Authorization` header. The scheme's name is case-insensitive (RFC 9110
/// §11.1).
pub fn parse(header: Option<&str>) -> Result<SecretString, Error> {
    let header = header.ok_or(Error::new(
        Code::InvalidToken,
        "an access token is required",
    ))?;
    let (scheme, token) = header.split_once(' ').ok_or(Error::new(
        Code::InvalidRequest,
        "the Authorization header is malformed",
    ))?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Error::new(Code::InvalidToken, "a bearer token is required"));
    }
    let token = token.trim_start_matches(' ');
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    if token.is_empty() || token.len() > MAX_LENGTH || !token.chars().all(allowed) {
        return Err(Error::new(
            Code::InvalidRequest,
            "the access token is malformed",
        ));
    }
    Ok(SecretString::from(token.to_owned()))
}

/// Builds the `Authorization` header value that carries `token`.
pub fn header(token: &SecretString) -> SecretString {
    SecretString::from(format!("Bearer {}", token.expose()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for header in ["Bearer abc", "BEARER abc", "bearer  abc"] {
            assert_eq!(parse(Some(header)).unwrap().expose(), "abc");
        }
    }

    #[test]
    fn a_header_without_a_bearer_token_is_refused() {
        assert_eq!(parse(None).unwrap_err().code, Code::InvalidToken);
        assert_eq!(
            parse(Some("Basic abc")).unwrap_err().code,
            Code::InvalidToken
        );
        for bad in ["Bearer", "Bearer ", "Bearer a b", "Bearer ä"] {
            assert_eq!(
                parse(Some(bad)).unwrap_err().code,
                Code::InvalidRequest,
                "{bad}"
            );
        }
    }

    #[test]
    fn a_header_that_was_written_reads_back() {
        let token = SecretString::from("a-b_c".to_owned());
        assert_eq!(
            parse(Some(header(&token).expose())).unwrap().expose(),
            "a-b_c"
        );
    }
}
